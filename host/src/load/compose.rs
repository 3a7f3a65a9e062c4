//! Joins a tenant with the registry component, if it asks for one.

use super::{
    imports::{Name, track},
    quote, quote_causes,
    screen::Shape,
};
use crate::error::Rejection;
use std::collections::HashSet;
use wac_graph::{
    CompositionGraph, EncodeOptions,
    types::{ItemKind, Package, SubtypeChecker},
};

/// The one interface that is not the host's but a component's.
pub const REGISTRY: &str = "hal:registry/registry";

/// Plugs `registry` into `tenant`; `None` if the tenant imports no registry (a composed tenant does not any more).
///
/// Both have been screened and validated. Run it under `catch_unwind` on a large stack: the composer recurses over
/// types and has panics for odd ones.
///
/// # Errors
/// `Incompatible`, naming what differs, if the tenant's registry is of another version track or shape.
pub fn compose(tenant: &[u8], shape: &Shape, registry: &[u8]) -> Result<Option<Vec<u8>>, Rejection> {
    let mut wanted = shape.imports.iter().filter(|import| Name::parse(&import.name).path == REGISTRY);
    let Some(import) = wanted.next() else { return Ok(None) };
    if let Some(second) = wanted.next() {
        return Err(Rejection::incompatible(format!(
            "it imports the registry twice, as {} and {}; use one version throughout",
            quote(&import.name),
            quote(&second.name)
        )));
    }

    let mut graph = CompositionGraph::new();
    let plug = package(&mut graph, "registry", registry)?;
    let socket = package(&mut graph, "tenant", tenant)?;
    check(&graph, &plug, &socket, &import.name)?;
    let plug = graph.register_package(plug).map_err(composer)?;
    let socket = graph.register_package(socket).map_err(composer)?;
    wac_graph::plug(&mut graph, vec![plug], socket).map_err(composer)?;
    // Validated by us afterwards, with the engine's features rather than the composer's.
    let options = EncodeOptions { validate: false, ..EncodeOptions::default() };
    graph.encode(options).map(Some).map_err(composer)
}

/// Requires that composition left no import of the registry.
///
/// # Errors
/// `Incompatible`, naming it.
pub fn require_gone(shape: &Shape) -> Result<(), Rejection> {
    match shape.imports.iter().find(|import| Name::parse(&import.name).path == REGISTRY) {
        None => Ok(()),
        Some(left) => Err(Rejection::incompatible(format!(
            "{} is still imported after composition; a component inside it wants another registry",
            quote(&left.name)
        ))),
    }
}

fn package(graph: &mut CompositionGraph, name: &str, bytes: &[u8]) -> Result<Package, Rejection> {
    Package::from_bytes(name, None, bytes, graph.types_mut())
        .map_err(|error| Rejection::invalid(format!("the {name} cannot be composed: {}", quote_causes(error.chain()))))
}

/// The composer skips what does not match and says nothing; we say what differs.
fn check(graph: &CompositionGraph, plug: &Package, socket: &Package, import: &str) -> Result<(), Rejection> {
    let types = graph.types();
    let offered = types[plug.ty()].exports.iter().find(|(name, _)| Name::parse(name).path == REGISTRY);
    let Some((export, &offered)) = offered else {
        return Err(Rejection::incompatible(format!("the registry component does not export {REGISTRY}")));
    };
    let tracks = (Name::parse(import).version.map(track), Name::parse(export).version.map(track));
    if tracks.0 != tracks.1 {
        return Err(Rejection::incompatible(format!(
            "it imports {}, this host's registry is {export}; build it against the {} track",
            quote(import),
            tracks.1.unwrap_or("unversioned")
        )));
    }
    let Some(&wanted) = types[socket.ty()].imports.get(import) else {
        return Err(Rejection::invalid(format!("{} is not among its imports", quote(import))));
    };
    let mut seen = HashSet::new();
    SubtypeChecker::new(&mut seen).is_subtype(offered, types, wanted, types).map_err(|error| {
        let missing = missing(graph, offered, wanted);
        let what = if missing.is_empty() { quote_causes(error.chain()) } else { missing };
        Rejection::incompatible(format!("it imports {} with another shape than {export} has: {what}", quote(import)))
    })
}

/// The functions and types that the tenant wants of the registry and it does not have.
fn missing(graph: &CompositionGraph, offered: ItemKind, wanted: ItemKind) -> String {
    let types = graph.types();
    let (ItemKind::Instance(offered), ItemKind::Instance(wanted)) = (offered, wanted) else { return String::new() };
    let names: Vec<_> = types[wanted]
        .exports
        .keys()
        .filter(|name| !types[offered].exports.contains_key(*name))
        .map(|n| quote(n))
        .collect();
    if names.is_empty() { String::new() } else { format!("it wants {}", names.join(", ")) }
}

fn composer(error: impl std::error::Error + 'static) -> Rejection {
    let causes = std::iter::successors(Some(&error as &(dyn std::error::Error + 'static)), |error| error.source());
    Rejection::incompatible(format!("it cannot be composed with the registry: {}", quote_causes(causes)))
}
