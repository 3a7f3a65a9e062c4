//! Random operations, compared with a model that is too simple to be wrong.

use super::fake::{Fake, error};
use crate::{Code, Registry};
use alloc::{format, string::String, vec::Vec};
use proptest::prelude::*;

const FACTORIES: usize = 6;
const CAPACITY: usize = 4;
const NAMES: &[&str] = &["a", "b", "c"];

#[derive(Debug, Clone)]
enum Operation {
    Register(usize),
    Unregister(usize),
    /// From now on the factory answers this; None: it fails.
    List(usize, Option<Vec<usize>>),
    /// From now on creating a driver fails or does not.
    Break(usize, bool),
    Enumerate,
    Create(usize),
    Open(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let factory = 0..FACTORIES;
    let name = 0..NAMES.len();
    let names = prop::collection::vec(name.clone(), 0..4);
    prop_oneof![
        4 => factory.clone().prop_map(Operation::Register),
        2 => factory.clone().prop_map(Operation::Unregister),
        2 => (factory.clone(), prop::option::of(names)).prop_map(|(factory, names)| Operation::List(factory, names)),
        1 => (factory, any::<bool>()).prop_map(|(factory, broken)| Operation::Break(factory, broken)),
        2 => Just(Operation::Enumerate),
        3 => name.clone().prop_map(Operation::Create),
        2 => name.prop_map(Operation::Open),
    ]
}

/// What the factories do, and what is registered with the listing that was remembered.
#[derive(Default)]
struct Model {
    answers: Vec<Option<Vec<usize>>>,
    broken: Vec<bool>,
    registered: Vec<(usize, Option<Vec<usize>>)>,
}

impl Model {
    fn register(&mut self, factory: usize) -> Result<(), Code> {
        if self.registered.iter().any(|entry| entry.0 == factory) {
            return Err(Code::AlreadyExists);
        }
        if self.registered.len() == CAPACITY {
            return Err(Code::ResourceExhausted);
        }
        self.registered.push((factory, self.answers[factory].clone()));
        Ok(())
    }

    fn unregister(&mut self, factory: usize) -> Result<(), Code> {
        let before = self.registered.len();
        self.registered.retain(|entry| entry.0 != factory);
        if self.registered.len() < before { Ok(()) } else { Err(Code::NotFound) }
    }

    /// Asks a factory that has not answered before.
    fn ask(&mut self, entry: usize) {
        let (factory, remembered) = &mut self.registered[entry];
        if remembered.is_none() {
            *remembered = self.answers[*factory].clone();
        }
    }

    fn enumerate(&mut self) -> (Vec<usize>, usize) {
        (0..self.registered.len()).for_each(|entry| self.ask(entry));
        let drivers = self.registered.iter().filter_map(|entry| entry.1.clone()).flatten().collect();
        (drivers, self.registered.iter().filter(|entry| entry.1.is_none()).count())
    }

    fn create(&mut self, name: usize) -> Result<usize, Code> {
        let mut missing = Code::NotFound;
        for entry in (0..self.registered.len()).rev() {
            self.ask(entry);
            let (factory, listing) = &self.registered[entry];
            match listing {
                Some(names) if names.contains(&name) => {
                    return if self.broken[*factory] { Err(Code::Unavailable) } else { Ok(*factory) };
                }
                Some(_) => {}
                None => missing = Code::DeadlineExceeded,
            }
        }
        Err(missing)
    }
}

fn texts(names: &[usize]) -> Vec<&'static str> {
    names.iter().map(|&name| NAMES[name]).collect()
}

proptest! {
    #[test]
    fn the_registry_does_what_the_model_does(operations in prop::collection::vec(operation(), 0..60)) {
        let factories: Vec<_> = (0..FACTORIES as u64).map(|id| Fake::new(id, &[])).collect();
        let mut model = Model {
            answers: (0..FACTORIES).map(|_| Some(Vec::new())).collect(),
            broken: (0..FACTORIES).map(|_| false).collect(),
            registered: Vec::new(),
        };
        let registry = Registry::with_capacity(CAPACITY);
        for operation in operations {
            match operation {
                Operation::Register(factory) => {
                    let done = registry.register_factory(&factories[factory]).map_err(|error| error.code);
                    prop_assert_eq!(done, model.register(factory));
                }
                Operation::Unregister(factory) => {
                    let done = registry.unregister_factory(&factories[factory]).map_err(|error| error.code);
                    prop_assert_eq!(done, model.unregister(factory));
                }
                Operation::List(factory, names) => {
                    match &names {
                        Some(names) => factories[factory].list(&texts(names)),
                        None => factories[factory].fail_listing(error(Code::DeadlineExceeded)),
                    }
                    model.answers[factory] = names;
                }
                Operation::Break(factory, broken) => {
                    *factories[factory].0.create_error.borrow_mut() = broken.then(|| error(Code::Unavailable));
                    model.broken[factory] = broken;
                }
                Operation::Enumerate => {
                    let listing = registry.enumerate_detailed().unwrap();
                    let found: Vec<String> = listing.drivers.into_iter().map(|driver| driver.name).collect();
                    let (names, failures) = model.enumerate();
                    prop_assert_eq!(found, texts(&names));
                    prop_assert_eq!(listing.failures.len(), failures);
                }
                Operation::Create(name) => {
                    let made = registry.try_create(NAMES[name]).map_err(|error| error.code);
                    prop_assert_eq!(made.map(|driver| driver.factory.id as usize), model.create(name));
                }
                Operation::Open(name) => {
                    let opened = registry.create_device(&format!("{}://0", NAMES[name])).map_err(|error| error.code);
                    prop_assert_eq!(opened.map(|device| device.factory as usize), model.create(name));
                }
            }
            // Exactly the registered ones are held.
            for (at, factory) in factories.iter().enumerate() {
                let held = model.registered.iter().any(|entry| entry.0 == at);
                prop_assert_eq!(factory.0.handles.get(), 1 + usize::from(held));
            }
        }
    }
}
