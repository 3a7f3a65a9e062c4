//! Random graphs of submissions, against what the rules say must come of them.

use crate::*;
use proptest::prelude::*;

/// Semaphores of one graph. Each signal raises its semaphore by a step of its own, so every value is reached in some order.
const SEMAPHORES: usize = 4;

/// Which semaphore, and which value.
type Points = Vec<(usize, u64)>;

#[derive(Clone, Debug)]
enum Step {
    /// Waits and signals: which semaphore, and how far.
    Submit {
        waits: Vec<(usize, u64)>,
        signals: Vec<(usize, u64)>,
    },
    Signal(usize, u64),
    Fail(usize),
    Release,
}

fn step() -> impl Strategy<Value = Step> {
    let points = || prop::collection::vec((0..SEMAPHORES, 1u64..8), 0..3);
    prop_oneof![
        4 => (points(), points()).prop_map(|(waits, signals)| Step::Submit { waits, signals }),
        3 => (0..SEMAPHORES, 1u64..8).prop_map(|(index, value)| Step::Signal(index, value)),
        1 => (0..SEMAPHORES).prop_map(Step::Fail),
        2 => Just(Step::Release),
    ]
}

/// What the rules say: values, failures, and submissions that have not ended.
#[derive(Default)]
struct Model {
    values: [u64; SEMAPHORES],
    failed: [bool; SEMAPHORES],
    waiting: Vec<(Points, Points)>,
    running: Vec<Points>,
}

impl Model {
    fn settle(&mut self) {
        loop {
            // A wait that was met stays met, whatever becomes of its semaphore.
            let (values, failed) = (self.values, self.failed);
            let unmet = |(index, value): &(usize, u64)| failed[*index] || values[*index] < *value;
            self.waiting.iter_mut().for_each(|(waits, _)| waits.retain(unmet));
            let failed = self.waiting.iter().position(|(waits, _)| waits.iter().any(|(index, _)| self.failed[*index]));
            if let Some(position) = failed {
                let (_, signals) = self.waiting.remove(position);
                signals.iter().for_each(|(index, _)| self.failed[*index] = true);
                continue;
            }
            let Some(position) = self.waiting.iter().position(|(waits, _)| waits.is_empty()) else { return };
            let (_, signals) = self.waiting.remove(position);
            self.running.push(signals);
        }
    }

    fn raise(&mut self, index: usize, value: u64) {
        if !self.failed[index] {
            self.values[index] = self.values[index].max(value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn graphs_do_what_the_model_does(steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(steps, false));
    }

    #[test]
    fn a_queue_that_keeps_its_order_changes_nothing_that_can_be_seen(steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(steps, true));
    }
}

/// Ends what runs; where the queue keeps its order, also what waits for that alone, and so on.
fn release(mock: &Mock, model: &mut Model, in_order: bool) {
    loop {
        mock.release();
        for signals in std::mem::take(&mut model.running) {
            signals.into_iter().for_each(|(index, value)| model.raise(index, value));
        }
        model.settle();
        if !in_order || model.running.is_empty() {
            return;
        }
    }
}

async fn run(steps: Vec<Step>, in_order: bool) {
    let world = World::new(Mode::Held);
    world.mock.in_order.store(in_order, std::sync::atomic::Ordering::SeqCst);
    let device = world.device().await;
    let target = buffer(&device, 4).await;
    let semaphores: Vec<_> = (0..SEMAPHORES).map(|_| device.create_semaphore(0).unwrap()).collect();
    let points = |list: &[(usize, u64)]| {
        list.iter().map(|(index, value)| point(&semaphores[*index], *value)).collect::<Vec<_>>()
    };
    let mut model = Model::default();
    for step in steps {
        // When a failure reaches work that is with the driver already is the driver's to say, so there is none.
        let fails = match &step {
            Step::Fail(_) => true,
            Step::Submit { waits, .. } => waits.iter().any(|(index, _)| model.failed[*index]),
            Step::Signal(..) | Step::Release => false,
        };
        if in_order && fails {
            release(&world.mock, &mut model, in_order);
        }
        match step {
            Step::Submit { waits, signals } => {
                let work = batch(&[&target], vec![fill(whole(0), 1)]);
                let advances =
                    signals.iter().all(|(index, value)| model.failed[*index] || *value > model.values[*index]);
                let result = device.submit(points(&waits), work, points(&signals), None).await;
                assert_eq!(result.is_ok(), advances);
                if advances {
                    model.waiting.push((waits, signals));
                }
            }
            Step::Signal(index, value) => {
                let advances = !model.failed[index] && value > model.values[index];
                assert_eq!(semaphores[index].signal(value).is_ok(), advances);
                model.raise(index, value);
            }
            Step::Fail(index) => {
                semaphores[index].fail(Error::new(Code::Aborted, "chosen"));
                model.failed[index] = true;
            }
            Step::Release => release(&world.mock, &mut model, in_order),
        }
        model.settle();
        for (index, semaphore) in semaphores.iter().enumerate() {
            match semaphore.query() {
                Ok(value) => assert!(!model.failed[index] && value == model.values[index]),
                Err(error) => assert!(model.failed[index] && error.code == Code::Aborted),
            }
        }
        // Where the queue keeps its order it also has what waits for what it has.
        assert!(if in_order {
            world.mock.held() >= model.running.len()
        } else {
            world.mock.held() == model.running.len()
        });
        assert_eq!(world.used(Limit::Submissions), (model.waiting.len() + model.running.len()) as u64);
    }
    let World { mock, session } = world;
    drop((semaphores, target, device, session));
    mock.release();
    assert_eq!(mock.live(), 0);
}
