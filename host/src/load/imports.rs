//! Which imports a component may have: by package, interface and semver track.

use super::{quote, screen::Item};
use crate::error::Rejection;
use hal_driver::Code;

/// How much of WASI 0.2 a tenant may import. What stands behind an interface is the embedder's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wasi {
    /// Nothing.
    #[default]
    None,
    /// What `wasi:cli/command` imports: `cli`, `clocks`, `filesystem`, `io`, `random`, `sockets`.
    Cli,
    /// `wasi:http` as well.
    Http,
}

impl Wasi {
    fn entries(self) -> &'static [&'static str] {
        const ALL: [&str; 7] = [
            "wasi:cli@0.2",
            "wasi:clocks@0.2",
            "wasi:filesystem@0.2",
            "wasi:io@0.2",
            "wasi:random@0.2",
            "wasi:sockets@0.2",
            "wasi:http@0.2",
        ];
        match self {
            Self::None => &[],
            Self::Cli => ALL.split_last().map_or(&[], |(_, cli)| cli),
            Self::Http => &ALL,
        }
    }
}

/// What this host implements for every tenant. Registry: a component's, which composition has put in by the time
/// imports are checked.
const OURS: [&str; 4] =
    ["hal:device@0.1", "hal:registry/drivers@0.1", "hal:registry/factories@0.1", "hal:registry/blobs@0.1"];

/// The imports a tenant may have.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    entries: Vec<String>,
}

impl Allowed {
    /// Ours, WASI's, and the embedder's `more`: `package@track`, `package/interface@track` or a plain name.
    pub(crate) fn new(wasi: Wasi, more: &[String]) -> Self {
        let fixed = OURS.iter().chain(wasi.entries()).map(|&entry| entry.to_owned());
        Self { entries: fixed.chain(more.iter().cloned()).collect() }
    }

    /// Names every import that is not allowed, with the reason.
    pub(crate) fn check(&self, imports: &[Item]) -> Result<(), Rejection> {
        let mut surplus = Vec::new();
        let mut code = Code::Incompatible;
        // A type alone is no authority; a resource type that nobody defines is refused when linking.
        for import in imports.iter().filter(|import| import.kind != "type") {
            let name = Name::parse(&import.name);
            if self.entries.iter().any(|entry| Name::parse(entry).covers(&name)) {
                continue;
            }
            let other = self.entries.iter().map(|entry| Name::parse(entry)).find(|entry| entry.covers_untracked(&name));
            surplus.push(match other {
                Some(entry) => format!(
                    "{} (this host has {} on the {} track)",
                    quote(&import.name),
                    name.path,
                    track(entry.version.unwrap_or("unversioned"))
                ),
                None => {
                    code = Code::PermissionDenied;
                    let hint = Self::hint(&name);
                    format!("{}{hint}", quote(&import.name))
                }
            });
        }
        match surplus.as_slice() {
            [] => Ok(()),
            [one] => Err(Rejection::new(code, format!("it imports what was not granted: {one}"))),
            _ => Err(Rejection::new(code, format!("it imports what was not granted: {}", surplus.join(", ")))),
        }
    }

    fn hint(name: &Name<'_>) -> &'static str {
        let covered = |wasi: Wasi| wasi.entries().iter().any(|entry| Name::parse(entry).covers(name));
        match name {
            _ if covered(Wasi::Cli) => " (granted by wasi = \"cli\")",
            _ if covered(Wasi::Http) => " (granted by wasi = \"http\")",
            _ => "",
        }
    }
}

/// A name taken apart: `package:name/interface@version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// Without the version.
    pub(crate) path: &'a str,
    pub(crate) version: Option<&'a str>,
}

impl<'a> Name<'a> {
    pub(crate) fn parse(name: &'a str) -> Self {
        match name.split_once('@') {
            Some((path, version)) => Self { path, version: Some(version) },
            None => Self { path: name, version: None },
        }
    }

    /// Whether `import` is this interface, or one of this package, on this track.
    fn covers(&self, import: &Name<'_>) -> bool {
        self.covers_untracked(import) && self.version.map(track) == import.version.map(track)
    }

    fn covers_untracked(&self, import: &Name<'_>) -> bool {
        self.path == import.path
            || (!self.path.contains('/')
                && import.path.split_once('/').is_some_and(|(package, _)| package == self.path))
    }
}

/// The part of a version that must agree for two to be compatible: `1`, `0.2`, `0.0.3`; a pre-release is its own.
pub(crate) fn track(version: &str) -> &str {
    if version.contains('-') {
        return version;
    }
    let release = version.split('+').next().unwrap_or(version);
    let mut end = 0;
    for part in release.split('.') {
        end += part.len();
        if part != "0" {
            break;
        }
        end = (end + 1).min(release.len());
    }
    release.get(..end).unwrap_or(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(name: &str) -> Item {
        Item { name: name.into(), kind: "instance" }
    }

    #[test]
    fn tracks() {
        for (version, expected) in [
            ("1.2.3", "1"),
            ("1", "1"),
            ("0.1.0", "0.1"),
            ("0.1", "0.1"),
            ("0.2.13", "0.2"),
            ("0.0.3", "0.0.3"),
            ("0.1.0-rc.1", "0.1.0-rc.1"),
            ("0.1.0+build", "0.1"),
            ("10.0.0", "10"),
        ] {
            assert_eq!(track(version), expected, "{version}");
        }
    }

    #[test]
    fn a_later_patch_is_allowed_and_another_track_is_named() {
        let allowed = Allowed::new(Wasi::None, &[]);
        allowed.check(&[import("hal:device/device@0.1.1"), import("hal:registry/blobs@0.1.0")]).unwrap();
        let refused = allowed.check(&[import("hal:device/device@0.2.0")]).unwrap_err();
        assert_eq!(refused.code, Code::Incompatible);
        assert!(refused.reason.contains("hal:device/device@0.2.0 (this host has hal:device/device on the 0.1 track)"));
    }

    #[test]
    fn each_surplus_import_is_named() {
        let refused = Allowed::new(Wasi::None, &[])
            .check(&[import("wasi:cli/stdout@0.2.3"), import("wasi:http/types@0.2.0"), import("acme:x/y@1.0.0")])
            .unwrap_err();
        assert_eq!(refused.code, Code::PermissionDenied);
        for part in
            ["stdout@0.2.3 (granted by wasi = \"cli\")", "types@0.2.0 (granted by wasi = \"http\")", "acme:x/y@1.0.0"]
        {
            assert!(refused.reason.contains(part), "{refused}");
        }
        let more = Allowed::new(Wasi::Http, &["acme:x@1".into()]);
        more.check(&[import("wasi:http/types@0.2.0"), import("acme:x/y@1.3.0")]).unwrap();
        assert!(more.check(&[import("acme:xy/y@1.3.0")]).is_err());
    }

    #[test]
    fn the_registry_itself_is_never_imported_from_the_host() {
        let refused = Allowed::new(Wasi::None, &[]).check(&[import("hal:registry/registry@0.1.0")]).unwrap_err();
        assert!(refused.reason.contains("hal:registry/registry@0.1.0"));
    }
}
