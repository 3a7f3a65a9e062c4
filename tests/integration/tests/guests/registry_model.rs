//! Random operations on registries, through the component, against a model that is one vector a registry.

use hal_test_support::{Fake, Guest};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

/// What the granted factories list: two of them fail, `e` for ever, `f` twice.
const GRANTED: [&[&str]; 5] = [&["a"], &["b", "a"], &["a", "c", "a"], &[], &["d"]];
const NAMES: [&str; 6] = ["a", "b", "c", "d", "x", "A"];

#[derive(Clone, Debug)]
enum Operation {
    New,
    Default,
    Drop(usize),
    Narrow(usize),
    Duplicate(usize),
    Register(usize, usize),
    Unregister(usize, usize),
    Enumerate(usize),
    Detailed(usize),
    Try(usize, usize),
    Open(usize, usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let n = || 0usize..100;
    prop_oneof![
        1 => Just(Operation::New),
        1 => Just(Operation::Default),
        1 => n().prop_map(Operation::Drop),
        1 => n().prop_map(Operation::Narrow),
        1 => n().prop_map(Operation::Duplicate),
        6 => (n(), n()).prop_map(|(r, f)| Operation::Register(r, f)),
        4 => (n(), n()).prop_map(|(r, f)| Operation::Unregister(r, f)),
        3 => n().prop_map(Operation::Enumerate),
        1 => n().prop_map(Operation::Detailed),
        3 => (n(), n()).prop_map(|(r, name)| Operation::Try(r, name)),
        2 => (n(), n()).prop_map(|(r, name)| Operation::Open(r, name)),
    ]
}

/// A factory: its identity, and which of the granted ones it lists as.
type Factory = (usize, usize);

#[derive(Default)]
struct Model {
    factories: Vec<Factory>,
    identities: usize,
    /// The contents of each registry there ever was; several handles may share the default one.
    contents: Vec<Vec<Factory>>,
    /// Each handle's registry, while it is held.
    handles: Vec<Option<usize>>,
    default: Option<usize>,
}

/// A line for the guest, and what its answer must be or start with.
type Step = (String, Expected);

enum Expected {
    Is(String),
    Starts(String),
}

impl Model {
    fn new() -> Self {
        let factories = (0..GRANTED.len()).map(|n| (n, n)).collect();
        Self { factories, identities: GRANTED.len(), ..Self::default() }
    }

    /// What an operation is to the guest, in this state; none if there is nothing to do it to.
    fn step(&mut self, operation: &Operation) -> Option<Step> {
        use Operation as O;
        let ok = |line: String| Some((line, Expected::Is("ok".into())));
        let held: Vec<usize> = (0..self.handles.len()).filter(|n| self.handles[*n].is_some()).collect();
        let handle = |r: &usize| (!held.is_empty()).then(|| held[r % held.len()]);
        match operation {
            O::New => {
                self.contents.push(Vec::new());
                self.handles.push(Some(self.contents.len() - 1));
                ok("new".into())
            }
            O::Default => {
                let default = *self.default.get_or_insert_with(|| {
                    self.contents.push((0..GRANTED.len()).map(|n| (n, n)).collect());
                    self.contents.len() - 1
                });
                self.handles.push(Some(default));
                ok("default".into())
            }
            O::Drop(r) => {
                let r = handle(r)?;
                self.handles[r] = None;
                ok(format!("drop {r}"))
            }
            O::Narrow(f) | O::Duplicate(f) => {
                let f = f % self.factories.len();
                let (identity, lists) = self.factories[f];
                let (word, identity) = match operation {
                    O::Narrow(_) => {
                        self.identities += 1;
                        ("narrow", self.identities - 1)
                    }
                    _ => ("duplicate", identity),
                };
                self.factories.push((identity, lists));
                ok(format!("{word} {f}"))
            }
            O::Register(r, f) => {
                let (r, f) = (handle(r)?, f % self.factories.len());
                let factory = self.factories[f];
                let line = format!("register {r} {f}");
                let contents = &mut self.contents[self.handles[r]?];
                if contents.iter().any(|(identity, _)| *identity == factory.0) {
                    return Some((line, Expected::Starts("StatusCode::AlreadyExists: ".into())));
                }
                contents.push(factory);
                ok(line)
            }
            O::Unregister(r, f) => {
                let (r, f) = (handle(r)?, f % self.factories.len());
                let identity = self.factories[f].0;
                let line = format!("unregister {r} {f}");
                let contents = &mut self.contents[self.handles[r]?];
                let Some(at) = contents.iter().position(|(other, _)| *other == identity) else {
                    return Some((line, Expected::Starts("StatusCode::NotFound: ".into())));
                };
                contents.remove(at);
                ok(line)
            }
            O::Enumerate(r) => {
                let r = handle(r)?;
                Some((format!("enumerate {r}"), Expected::Is(self.names(r))))
            }
            O::Detailed(r) => {
                let r = handle(r)?;
                Some((format!("detailed {r}"), Expected::Is(format!("{} | ", self.names(r)))))
            }
            O::Try(r, name) | O::Open(r, name) => {
                let (r, name) = (handle(r)?, NAMES[name % NAMES.len()]);
                let contents = &self.contents[self.handles[r]?];
                let maker = contents.iter().rev().find(|(_, lists)| GRANTED[*lists].contains(&name));
                let opens = matches!(operation, O::Open(..));
                let line = if opens { format!("open {r} {name}://") } else { format!("try {r} {name}") };
                let expected = match maker {
                    None => Expected::Starts(format!(
                        "StatusCode::NotFound: {}",
                        if opens { format!("opening '{name}://'") } else { format!("no driver '{name}'") }
                    )),
                    Some(_) if opens => Expected::Is("opened 0".into()),
                    Some((_, lists)) => Expected::Is(format!("made f{lists} {name}")),
                };
                Some((line, expected))
            }
        }
    }

    fn names(&self, r: usize) -> String {
        let contents = self.handles[r].map(|registry| self.contents[registry].as_slice()).unwrap_or_default();
        contents.iter().flat_map(|(_, lists)| GRANTED[*lists]).copied().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn registry_script_agrees_with_a_model() {
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&prop::collection::vec(operation(), 1..120), |operations| {
        let mut model = Model::new();
        let steps: Vec<Step> = operations.iter().filter_map(|operation| model.step(operation)).collect();
        let input = steps.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n");
        let factories = (0..).zip(GRANTED).map(|(n, names)| Fake::new(&format!("f{n}"), names));
        let report = factories.fold(Guest::new("registry_script"), Guest::fake).input(input).run().well();
        let report: Vec<_> = report.lines().collect();
        prop_assert_eq!(report.len(), steps.len(), "{:?}", report);
        for (n, ((line, expected), answer)) in steps.iter().zip(report).enumerate() {
            match expected {
                Expected::Is(expected) => prop_assert_eq!(answer, expected, "step {}, {}", n, line),
                Expected::Starts(start) => {
                    prop_assert!(answer.starts_with(start), "step {n}, {line}: {answer:?}, not {start:?}")
                }
            }
        }
        Ok(())
    });
    outcome.unwrap();
}
