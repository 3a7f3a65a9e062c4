//! Works that are in the queue together: their order, and what one that fails does to those behind it.

use super::*;
use hal_driver::Code;

const LINKS: u32 = 100;

/// What ended, in order, with its place in the chain.
type Ended = mpsc::Receiver<(u32, Result<Timing>)>;

/// Submits one work for each list of commands, as the host does where each waits for the one before it: a failure stops all after it, and the
/// time of each begins with the end of the one before.
fn chain(
    device: &dyn Device,
    buffer: &Arc<dyn Buffer>,
    executable: Option<&Arc<dyn Executable>>,
    works: Vec<Vec<Command>>,
) -> (Vec<Arc<Control>>, Ended) {
    assert!(device.in_order());
    let (sender, ended) = mpsc::channel();
    let controls: Vec<_> = works.iter().map(|_| Arc::new(Control::waiting(Duration::from_secs(60)))).collect();
    controls[0].begin();
    for (at, commands) in (0..).zip(works) {
        let (sender, after) = (sender.clone(), controls[at as usize + 1..].to_vec());
        device.submit(Work {
            commands: commands.into(),
            buffers: vec![BufferView { buffer: buffer.clone(), offset: 0, length: buffer.size() }],
            slots: Vec::new(),
            executables: executable.cloned().into_iter().collect(),
            control: controls[at as usize].clone(),
            done: Box::new(move |outcome| {
                match &outcome {
                    Ok(_) => after.iter().take(1).for_each(|next| next.begin()),
                    Err(error) => after.iter().for_each(|next| next.stop(error.clone())),
                }
                sender.send((at, outcome)).unwrap();
            }),
        });
    }
    (controls, ended)
}

fn all(ended: &Ended, count: u32) -> Vec<Result<Timing>> {
    (0..count)
        .map(|expected| {
            let (at, outcome) = ended.recv_timeout(Duration::from_secs(60)).expect("an end");
            assert_eq!(at, expected, "they end in order");
            outcome
        })
        .collect()
}

/// Copies the word at one place to the next.
fn copy(link: u32) -> Command {
    let word = |at: u32| at_word(at);
    Command::Copy { source: word(link), target: word(link + 1) }
}

fn at_word(word: u32) -> BufferRef {
    at(0, u64::from(word) * 4, 4)
}

#[test]
fn a_chain_of_small_works_runs_in_order_and_shares_its_time() {
    let Some(device) = device() else { return };
    let buffer = allocate(&*device, u64::from(LINKS + 1) * 4);
    write(&*buffer, 0, &7_u32.to_le_bytes());
    let begin = Instant::now();
    let (controls, ended) = chain(&*device, &buffer, None, (0..LINKS).map(|link| vec![copy(link)]).collect());
    let outcomes = all(&ended, LINKS);
    let took = begin.elapsed();
    let times: Vec<Timing> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(words(&*buffer), vec![7; LINKS as usize + 1]);
    // Nobody is charged for what another did.
    let device_time: Duration = times.iter().filter_map(|timing| timing.device).sum();
    assert!(device_time <= took, "{device_time:?} of {took:?}");
    assert!(controls.iter().all(|control| control.begun().is_some()));
}

#[test]
fn kernels_and_transfers_of_a_chain_see_each_other() {
    let Some(device) = device() else { return };
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < arrayLength(&data) { data[id.x] = data[id.x] * 3u + id.x; }
        }";
    let executable = load(&*device, source).unwrap();
    let buffer = allocate(&*device, 256 * 4);
    let mut expected = vec![0_u32; 256];
    let works = (0..LINKS).map(|link| match link % 3 {
        0 => vec![dispatch(&executable, [4, 1, 1])],
        1 => vec![Command::Fill { target: at_word(link), pattern: link.to_le_bytes() }],
        _ => vec![copy(link), Command::Barrier, dispatch(&executable, [4, 1, 1])],
    });
    let (_, ended) = chain(&*device, &buffer, Some(&executable), works.collect());
    let kernel = |data: &mut Vec<u32>| {
        (0..).zip(data).for_each(|(id, word): (u32, &mut u32)| *word = word.wrapping_mul(3).wrapping_add(id));
    };
    for link in 0..LINKS as usize {
        match link % 3 {
            0 => kernel(&mut expected),
            1 => expected[link] = link as u32,
            _ => {
                expected[link + 1] = expected[link];
                kernel(&mut expected);
            }
        }
    }
    assert!(all(&ended, LINKS).iter().all(Result::is_ok));
    assert_eq!(words(&*buffer), expected);
}

#[test]
fn what_follows_a_failure_does_not_touch_the_device() {
    let Some(device) = device() else { return };
    let buffer = allocate(&*device, u64::from(LINKS + 1) * 4);
    let executable = load(
        &*device,
        "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1) fn main() { loop { if data[0] == 12345u { break; } } }",
    )
    .unwrap();
    for stopped in [true, false] {
        write(&*buffer, 0, &(0..=LINKS).flat_map(|word| (word + 1).to_le_bytes()).collect::<Vec<u8>>());
        // Either somebody stops it, or its kernel finds no end.
        let works = (0..LINKS).map(|link| match link {
            50 if !stopped => vec![dispatch(&executable, [1, 1, 1])],
            _ => vec![copy(link)],
        });
        // Until the works are all there.
        let (open, gate) = mpsc::channel::<()>();
        let (begun, waiting) = mpsc::channel::<()>();
        let mut works: Vec<_> = works.collect();
        works[0].insert(
            0,
            Command::ReadBlob { blob: Arc::new(Gate(begun, gate.into())), blob_offset: 0, target: at_word(0) },
        );
        let (controls, ended) = chain(&*device, &buffer, Some(&executable), works);
        waiting.recv_timeout(Duration::from_secs(60)).unwrap();
        if stopped {
            controls[50].stop(Error::new(Code::DataLoss, "the cause"));
        }
        open.send(()).unwrap();
        let outcomes = all(&ended, LINKS);
        assert!(outcomes[..50].iter().all(Result::is_ok));
        let cause = outcomes[50].clone().unwrap_err();
        assert_eq!(cause.code, if stopped { Code::DataLoss } else { Code::DeadlineExceeded });
        assert!(outcomes[50..].iter().all(|outcome| outcome.as_ref() == Err(&cause)));
        let found = words(&*buffer);
        assert_eq!(found[..=50], [1; 51], "what was before it was done");
        assert_eq!(found[51..], (52..LINKS + 2).collect::<Vec<_>>(), "what comes after it was not");
    }
    // The device is none the worse.
    run(&*device, &[&buffer], None, vec![copy(LINKS - 1)]).unwrap();
}

/// A blob of one word that is not there before it is let through.
struct Gate(mpsc::Sender<()>, std::sync::Mutex<mpsc::Receiver<()>>);

impl hal_driver::Blob for Gate {
    fn length(&self) -> u64 {
        4
    }

    fn read_at(&self, _: u64, into: &mut [u8]) -> Result<()> {
        self.0.send(()).unwrap();
        self.1.lock().unwrap().recv_timeout(Duration::from_secs(60)).unwrap();
        into.copy_from_slice(&1_u32.to_le_bytes());
        Ok(())
    }
}
