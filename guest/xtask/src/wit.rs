//! The WIT packages must parse together, and must not use type names that clash with those of the languages they are bound in.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use wit_parser::{Resolve, TypeDefKind, TypeOwner, UnresolvedPackageGroup};

/// Binding generators give these names a meaning of their own.
const RESERVED: [&str; 8] = ["box", "clone", "copy", "debug", "option", "result", "string", "vec"];

/// `error` clashes too, but is what everyone expects the one type to be called that every function fails with. This interface holds it.
const HOME_OF_ERROR: &str = "types";

/// Checks every package in `dir`, one directory a package.
pub fn check(dir: &Path) -> Result<()> {
    let mut packages = Vec::new();
    for child in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let path = child?.path();
        if path.is_dir() {
            packages.push(UnresolvedPackageGroup::parse_dir(&path)?);
        }
    }
    let clashes = clashes(&resolve(packages)?);
    if !clashes.is_empty() {
        bail!("these names clash with a language's own in generated bindings:\n  {}", clashes.join("\n  "));
    }
    Ok(())
}

/// Joins the packages, each after those that it depends on.
fn resolve(mut packages: Vec<UnresolvedPackageGroup>) -> Result<Resolve> {
    let mut resolve = Resolve::default();
    let Some(any) = packages.pop() else { bail!("there is no WIT package") };
    match resolve.push_groups(any, packages) {
        Ok(_) => Ok(resolve),
        Err(error) => Err(anyhow!("{}", error.render(&resolve.source_map))),
    }
}

/// The types that have a reserved name.
fn clashes(resolve: &Resolve) -> Vec<String> {
    let mut clashes = Vec::new();
    for (_, ty) in &resolve.types {
        let (Some(name), TypeOwner::Interface(owner)) = (ty.name.as_deref(), ty.owner) else { continue };
        let interface = resolve.interfaces.get(owner).and_then(|interface| interface.name.as_deref()).unwrap_or("?");
        // `use types.{error}` makes a type of that name too.
        let alias = matches!(ty.kind, TypeDefKind::Type(_));
        if RESERVED.contains(&name) || (name == "error" && interface != HOME_OF_ERROR && !alias) {
            clashes.push(format!("type `{name}` in interface `{interface}`"));
        }
    }
    clashes.sort();
    clashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(sources: &[&str]) -> Result<Vec<String>> {
        let parse = |source: &&str| UnresolvedPackageGroup::parse("x.wit", source).unwrap();
        Ok(clashes(&resolve(sources.iter().map(parse).collect())?))
    }

    const TYPES: &str = "package a:types; interface types { record error { code: u32 } }";

    #[test]
    fn packages_are_joined_in_the_order_of_their_dependencies() {
        let user = "package a:user; interface user { use a:types/types.{error}; f: func() -> result<_, error>; }";
        assert_eq!(parse(&[TYPES, user]).unwrap(), [""; 0]);
        assert_eq!(parse(&[user, TYPES]).unwrap(), [""; 0]);
    }

    #[test]
    fn a_missing_package_is_an_error_with_its_place() {
        let user = "package a:user; interface user { use a:none/none.{error}; }";
        let error = parse(&[user]).unwrap_err().to_string();
        assert!(error.contains("x.wit:1") && error.contains("a:none"), "{error}");
    }

    #[test]
    fn reserved_names_are_found() {
        let user = "package a:user; interface user { record copy { x: u32 } resource %string; enum error { x } }";
        assert_eq!(
            parse(&[TYPES, user]).unwrap(),
            [
                "type `copy` in interface `user`",
                "type `error` in interface `user`",
                "type `string` in interface `user`"
            ]
        );
    }
}
