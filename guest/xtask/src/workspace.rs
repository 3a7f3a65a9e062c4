//! What cargo says about the workspace, and which of its members are guests.
//!
//! The rule needs no list of names: a member outside `default-members` is built for WebAssembly, its `cdylib` and each of its programs becomes
//! a component, and a member with neither (the SDK) is only a library for the others. A `cdylib`'s component is called like its directory,
//! a program's like the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process;

/// What every guest is built from beside its own package and the local packages that it depends on.
const COMMON_INPUTS: [&str; 4] = ["wit", "Cargo.toml", "Cargo.lock", ".cargo/config.toml"];

/// The workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Its root directory.
    pub root: PathBuf,
    /// Where cargo builds what is not a guest.
    pub target: PathBuf,
    /// Its members.
    pub members: Vec<Member>,
}

/// A member of the workspace.
#[derive(Debug)]
pub struct Member {
    /// The package's name.
    pub name: String,
    /// Cargo's identifier for the package.
    pub id: String,
    /// Its directory, relative to the workspace's root.
    pub dir: String,
    /// Whether it is outside `default-members`, and so built for WebAssembly.
    pub guest: bool,
    /// Whether a guest is also tested natively: `native-tests = true` in its `[package.metadata.xtask]`.
    pub native_tests: bool,
    /// The features it is tested natively with: `native-features` beside that.
    pub native_features: Vec<String>,
    targets: Vec<Target>,
    dependencies: Vec<PathBuf>,
}

/// One component that can be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name, which is also its file's.
    pub name: String,
    /// The package's name.
    pub package: String,
    /// Cargo's identifier for the package.
    pub package_id: String,
    /// Cargo's name for the target.
    pub target: String,
    /// Whether the target is a program rather than a `cdylib`.
    pub program: bool,
    /// The directories and files that its build reads, relative to the workspace's root.
    pub inputs: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_default_members: Vec<String>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    id: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
    metadata: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Dependency {
    kind: Option<String>,
    path: Option<PathBuf>,
}

impl Workspace {
    /// Asks cargo about the workspace around the current directory.
    pub fn load() -> Result<Self> {
        let mut command = process::cargo();
        command.args(["metadata", "--format-version", "1", "--no-deps"]);
        Self::parse(&process::output(&mut command, "mend the Cargo.toml that it names")?)
    }

    /// Reads what `cargo metadata --no-deps` printed.
    pub fn parse(json: &str) -> Result<Self> {
        let metadata: Metadata = serde_json::from_str(json).context("cannot read the output of `cargo metadata`")?;
        let mut members = Vec::new();
        for package in metadata.packages {
            let dir = package.manifest_path.parent().unwrap_or(&metadata.workspace_root);
            let ours = package.metadata.as_ref().and_then(|metadata| metadata.get("xtask"));
            let features = ours.and_then(|ours| ours.get("native-features")?.as_array());
            members.push(Member {
                guest: !metadata.workspace_default_members.contains(&package.id),
                native_tests: ours.and_then(|ours| ours.get("native-tests")?.as_bool()).unwrap_or(false),
                native_features: features
                    .into_iter()
                    .flatten()
                    .filter_map(|name| Some(name.as_str()?.into()))
                    .collect(),
                dir: relative(&metadata.workspace_root, dir),
                name: package.name,
                id: package.id,
                targets: package.targets,
                dependencies: package
                    .dependencies
                    .into_iter()
                    .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
                    .filter_map(|dependency| dependency.path)
                    .collect(),
            });
        }
        Ok(Self { root: metadata.workspace_root, target: metadata.target_directory, members })
    }

    /// The members that are built for WebAssembly.
    pub fn guests(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.guest)
    }

    /// Every component that can be built, by name.
    pub fn components(&self) -> Result<Vec<Component>> {
        let mut components = Vec::new();
        for member in self.guests() {
            let inputs = self.inputs(member);
            for target in &member.targets {
                let program = target.kind.iter().any(|kind| kind == "bin");
                if program || target.kind.iter().any(|kind| kind == "cdylib") {
                    let directory = member.dir.rsplit('/').next().unwrap_or(&member.name);
                    components.push(Component {
                        name: if program { target.name.clone() } else { directory.to_owned() },
                        package: member.name.clone(),
                        package_id: member.id.clone(),
                        target: target.name.clone(),
                        program,
                        inputs: inputs.clone(),
                    });
                }
            }
        }
        components.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(same) = components.iter().zip(components.iter().skip(1)).find(|(a, b)| a.name == b.name) {
            bail!("two components are called `{}`: in {} and in {}", same.0.name, same.0.package, same.1.package);
        }
        Ok(components)
    }

    /// The member's own directory, those of the members that it depends on, and what all builds read.
    fn inputs(&self, member: &Member) -> Vec<String> {
        let mut found = BTreeSet::new();
        let mut pending = vec![member.dir.clone()];
        while let Some(dir) = pending.pop() {
            if let Some(member) = self.members.iter().find(|member| member.dir == dir) {
                pending.extend(
                    member
                        .dependencies
                        .iter()
                        .map(|path| relative(&self.root, path))
                        .filter(|dir| !found.contains(dir)),
                );
            }
            found.insert(dir);
        }
        found.extend(
            COMMON_INPUTS.iter().filter(|input| self.root.join(input).exists()).map(|input| (*input).to_owned()),
        );
        found.into_iter().collect()
    }
}

/// `path` relative to `root`, with `/` between its parts; as it is when it lies outside.
fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn package(root: &str, name: &str, dir: &str, targets: Value, dependencies: Value) -> Value {
        json!({
            "name": name, "id": format!("id:{name}"), "manifest_path": format!("{root}/{dir}/Cargo.toml"), "targets": targets,
            "dependencies": dependencies, "metadata": { "xtask": { "native-tests": name == "hal-sdk", "native-features": ["wasi"] } },
        })
    }

    /// A workspace with a native library, the SDK, two tenants and a package of test guests.
    pub(crate) fn sample() -> Workspace {
        sample_at("/w")
    }

    pub(crate) fn sample_at(root: &str) -> Workspace {
        let on = |dir: &str, kind: Value| json!({ "kind": kind, "path": format!("{root}/{dir}") });
        let lib = json!([{ "name": "x", "kind": ["lib"] }]);
        let sdk = json!([on("guest/sdk", Value::Null), { "kind": null, "path": null }]);
        let bins = json!([
            { "name": "test_guests", "kind": ["lib"] },
            { "name": "ok_a", "kind": ["bin"] },
            { "name": "deny_b", "kind": ["bin"] },
        ]);
        let cdylib = json!([{ "name": "hal_registry", "kind": ["cdylib", "rlib"] }]);
        let metadata = json!({
            "packages": [
                package(root, "hal-uri", "drivers/uri", lib.clone(), json!([])),
                package(root, "hal-host", "host", lib.clone(), json!([on("guest/registry", Value::Null)])),
                package(root, "hal-registry", "guest/registry", cdylib, json!([
                    on("drivers/uri", Value::Null), on("host", json!("dev")), on("guest/sdk", json!("build")),
                ])),
                package(root, "hal-sdk", "guest/sdk", lib, json!([])),
                package(root, "test-guests", "tests/guests", bins, sdk),
            ],
            "workspace_default_members": ["id:hal-uri", "id:hal-host"],
            "workspace_root": root,
            "target_directory": format!("{root}/target"),
        });
        Workspace::parse(&metadata.to_string()).unwrap()
    }

    #[test]
    fn guests_are_the_members_outside_default_members() {
        let workspace = sample();
        assert_eq!(
            workspace.guests().map(|guest| guest.name.as_str()).collect::<Vec<_>>(),
            ["hal-registry", "hal-sdk", "test-guests"]
        );
        assert!(workspace.members.iter().all(|member| member.native_tests == (member.name == "hal-sdk")));
    }

    #[test]
    fn cdylibs_and_programs_become_components() {
        let components = sample().components().unwrap();
        let named =
            |index: usize| components.get(index).map(|c| (c.name.as_str(), c.target.as_str(), c.program)).unwrap();
        assert_eq!(components.len(), 3);
        assert_eq!(named(0), ("deny_b", "deny_b", true));
        assert_eq!(named(1), ("ok_a", "ok_a", true));
        assert_eq!(named(2), ("registry", "hal_registry", false));
    }

    #[test]
    fn inputs_follow_local_dependencies_but_not_those_of_tests() {
        let components = sample().components().unwrap();
        assert_eq!(components[2].inputs, ["drivers/uri", "guest/registry", "guest/sdk"]);
        assert_eq!(components[0].inputs, ["guest/sdk", "tests/guests"]);
    }

    #[test]
    fn one_name_for_two_components_is_an_error() {
        let mut workspace = sample();
        workspace.members[2].dir = "guest/ok_a".into();
        assert!(workspace.components().unwrap_err().to_string().contains("`ok_a`: in "));
    }
}
