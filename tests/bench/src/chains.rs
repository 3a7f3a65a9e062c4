//! Chains: submissions that each wait for the one before, beside as many that the host waits for one by one.

use crate::{
    measure::{self, ROUNDS, each},
    statistics,
    table::Row,
};
use anyhow::{Context, Result, bail};
use hal_core::{
    Batch, Buffer, BufferParams, BufferRef, Command, Device, DeviceKind, Grant, Limit, Limits, Session, Source,
    TimePoint, Usage,
};
use hal_driver::Factory;
use std::sync::Arc;
use tokio::runtime::Runtime;

const GROUP: &str = "chains";

/// Links of a chain.
const LINKS: u32 = 1000;

/// Who waits for a link.
#[derive(Clone, Copy)]
enum Waits {
    /// The next link.
    Link,
    /// The host, before it submits the next link.
    Host,
}

/// Measures the group. A driver without a device is left out, and said so.
///
/// # Errors
/// What any of it answers.
pub fn measure() -> Result<Vec<Row>> {
    let cpu = hal_driver_cpu::CpuFactory::new(hal_driver_cpu::Config::new().workers(2))?;
    let wgpu = hal_driver_wgpu::WgpuFactory::new(hal_driver_wgpu::Config::new());
    // Most microseconds of a link on a device in software.
    let contestants: [(Arc<dyn Factory>, _, _); 2] = [(Arc::new(cpu), "cpu", 10.0), (Arc::new(wgpu), "vulkan", 30.0)];
    let runtime = Runtime::new()?;
    let mut rows = Vec::new();
    for (factory, driver, most) in contestants {
        match runtime.block_on(Chain::new(factory, driver)) {
            Ok(chain) => rows.extend(of_one(&runtime, &chain, driver, most)?),
            Err(error) => eprintln!("skipped: {driver}: {error:#}"),
        }
    }
    Ok(rows)
}

fn of_one(runtime: &Runtime, chain: &Chain, driver: &str, most: f64) -> Result<[Row; 2]> {
    let microseconds = |waits: &mut Waits| Ok(each(LINKS, || runtime.block_on(chain.run(*waits)))? / 1000.0);
    let mut contestants = [Waits::Link, Waits::Host];
    measure::rounds(&mut contestants, 1, microseconds)?;
    let taken = measure::rounds(&mut contestants, ROUNDS, microseconds)?;
    runtime.block_on(chain.check())?;
    let [ours, baseline] = &taken[..] else { bail!("two contestants gave {} series", taken.len()) };
    let in_software = chain.device.info().kind == DeviceKind::Cpu;
    let name = format!("a link of {LINKS} on {driver}");
    let bounded = Row::bounded(GROUP, format!("{name}, median"), "us", statistics::estimate(ours), most);
    Ok([
        Row::paired(GROUP, format!("{name} / a wait for each"), &measure::compare(ours, baseline), "us"),
        bounded.at_least(in_software.then_some(1.0)),
    ])
}

/// What a chain runs on. Its links fill one word each, so that little but the link is measured.
struct Chain {
    /// Its end would be the device's.
    _session: Session,
    device: Device,
    target: Buffer,
}

impl Chain {
    async fn new(factory: Arc<dyn Factory>, driver: &str) -> Result<Self> {
        let limits = Limits::new().with(Limit::Submissions, u64::from(LINKS) + 1);
        let session = Session::builder(GROUP).grant(Grant::new(factory).limits(limits)).start()?;
        let factory = session.granted().into_iter().next().context("no factory")?;
        let device = factory.try_create(driver).await?.create_default_device().await?;
        let params = BufferParams { usage: Usage::all(), ..Default::default() };
        let target = device.allocate(params, u64::from(LINKS) * 4).await?;
        Ok(Self { _session: session, device, target })
    }

    fn link(&self, link: u32) -> Batch {
        let target = BufferRef { source: Source::Direct(0), offset: u64::from(link) * 4, length: Some(4) };
        let fill = Command::Fill { target, pattern: vec![7] };
        Batch { buffers: vec![self.target.clone()], commands: vec![fill], ..Batch::default() }
    }

    /// Submits every link and waits for the last.
    async fn run(&self, waits: Waits) -> Result<()> {
        let timeline = self.device.create_semaphore(0)?;
        for link in 0..LINKS {
            let before = u64::from(link);
            let wait = match waits {
                Waits::Link if link > 0 => vec![TimePoint::new(&timeline, before)],
                Waits::Link | Waits::Host => Vec::new(),
            };
            let signal = vec![TimePoint::new(&timeline, before + 1)];
            self.device.submit(wait, self.link(link), signal, None).await?;
            if matches!(waits, Waits::Host) {
                timeline.wait(before + 1, u64::MAX).await?;
            }
        }
        timeline.wait(u64::from(LINKS), u64::MAX).await?;
        Ok(())
    }

    /// Whether every link has run.
    async fn check(&self) -> Result<()> {
        let bytes = self.target.read(0, u64::from(LINKS) * 4, Vec::new()).await?;
        anyhow::ensure!(bytes.iter().all(|byte| *byte == 7), "a link has not run");
        Ok(())
    }
}
