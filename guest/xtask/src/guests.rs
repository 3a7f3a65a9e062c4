//! Building the guests: cargo makes core modules, the component encoder makes components of them, and the manifest says from what.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use wit_component::ComponentEncoder;

use crate::manifest::{self, COMPONENTS, Entry, Manifest};
use crate::process;
use crate::route::{self, Route, Toolchain};
use crate::workspace::{Component, Workspace};

/// Where cargo builds guests, relative to the workspace's root: apart from the host's build, so that neither waits for the other's lock.
pub const TARGET_DIR: &str = "target/guests";

/// The guests' profile.
pub const PROFILE: &str = "guest";

/// One line of cargo's messages, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        target: MessageTarget,
        filenames: Vec<PathBuf>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageTarget {
    name: String,
    kind: Vec<String>,
}

/// The core modules of a package, by target name and whether the target is a program.
type Modules = HashMap<(String, bool), PathBuf>;

/// Finds a toolchain, then builds the guests called `names` (all, if there are none) that do not match their sources.
pub fn build(workspace: &Workspace, names: &[String], route: Option<Route>) -> Result<()> {
    let toolchain = route::find(route)?;
    build_with(workspace, names, &toolchain)
}

/// Builds the guests called `names` (all, if there are none) that do not match their sources.
pub fn build_with(workspace: &Workspace, names: &[String], toolchain: &Toolchain) -> Result<()> {
    let all = workspace.components()?;
    let wanted = select(&all, names)?;
    let dir = workspace.root.join(COMPONENTS);
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let _lock = lock(&dir)?;

    // A manifest that cannot be read is as good as none: everything is built.
    let mut manifest = Manifest::read(&workspace.root).unwrap_or_default();
    forget(&workspace.root, &mut manifest, &all)?;
    let start = Instant::now();
    let stale = stale(workspace, &manifest, &wanted, toolchain)?;
    if stale.is_empty() {
        process::report(start.elapsed(), "guests", &format!("{} components, none stale", wanted.len()));
        return manifest.write(&workspace.root);
    }

    let mut failures = Vec::new();
    for group in stale.chunk_by(|(a, _), (b, _)| a.package_id == b.package_id) {
        let what = group.first().map(|(component, _)| component.package.as_str()).unwrap_or_default();
        let done = process::step(&format!("guests of {what} ({})", group.len()), || {
            let (modules, built) = compile(&mut cargo_build(workspace, &all, group, toolchain))?;
            encode_all(group, &modules, toolchain, &dir, &mut manifest)?;
            built
        });
        if let Err(error) = done {
            failures.push(format!("{what}: {error:#}"));
        }
        manifest.write(&workspace.root)?;
    }
    if !failures.is_empty() {
        bail!("not every guest was built:\n  {}", failures.join("\n  "));
    }
    Ok(())
}

/// Makes components of those of `group` that have a module, and enters them in the manifest.
fn encode_all(
    group: &[(Component, String)],
    modules: &Modules,
    toolchain: &Toolchain,
    dir: &Path,
    manifest: &mut Manifest,
) -> Result<()> {
    let mut failures = Vec::new();
    for (component, inputs_sha256) in group {
        let Some(module) = modules.get(&(component.target.clone(), component.program)) else { continue };
        match encode(module, &dir.join(format!("{}.wasm", component.name))) {
            Ok(sha256) => {
                let entry = entry(component, sha256, toolchain, inputs_sha256);
                manifest.components.insert(component.name.clone(), entry);
            }
            Err(error) => failures.push(format!("{}: {error:#}", component.name)),
        }
    }
    if !failures.is_empty() {
        bail!("no component can be made of\n    {}", failures.join("\n    "));
    }
    Ok(())
}

fn select(all: &[Component], names: &[String]) -> Result<Vec<Component>> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let mut selected = Vec::new();
    for name in names {
        let component = all.iter().find(|component| component.name == *name).ok_or_else(|| {
            let known = all.iter().map(|component| component.name.as_str()).collect::<Vec<_>>().join(" ");
            anyhow!(
                "no guest is called `{name}`; a guest is a member of the workspace that becomes a component (a new one is named in the \
                 `members` of Cargo.toml), or one of the programs in tests/guests; there are: {known}"
            )
        })?;
        selected.push(component.clone());
    }
    Ok(selected)
}

/// One process at a time writes components: two would overwrite each other's manifest.
fn lock(dir: &Path) -> Result<File> {
    let file = File::create(dir.join(".lock"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("xtask: waiting for another `cargo xtask` that builds guests");
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the components' directory"),
    }
    Ok(file)
}

/// Removes what no longer exists from the manifest and from the disk.
fn forget(root: &Path, manifest: &mut Manifest, all: &[Component]) -> Result<()> {
    manifest.components.retain(|name, _| all.iter().any(|component| component.name == *name));
    for file in fs::read_dir(root.join(COMPONENTS))? {
        let path = file?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".wasm") && !manifest.components.values().any(|entry| entry.file == name) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Those of `wanted` that have to be built, package by package, with the hash of their inputs. It is taken before the build, so that a file that changes
/// meanwhile makes the component stale rather than wrong.
fn stale(
    workspace: &Workspace,
    manifest: &Manifest,
    wanted: &[Component],
    toolchain: &Toolchain,
) -> Result<Vec<(Component, String)>> {
    let mut hashes: HashMap<&[String], String> = HashMap::new();
    let mut stale = Vec::new();
    for component in wanted {
        let hash = match hashes.get(component.inputs.as_slice()) {
            Some(hash) => hash.clone(),
            None => manifest::hash_inputs(&workspace.root, &component.inputs, &toolchain.version)?,
        };
        hashes.insert(&component.inputs, hash.clone());
        let current = manifest.components.get(&component.name).is_some_and(|entry| {
            let file = fs::read(workspace.root.join(COMPONENTS).join(&entry.file));
            *entry == self::entry(component, entry.sha256.clone(), toolchain, &hash)
                && file.is_ok_and(|bytes| manifest::sha256(&bytes) == entry.sha256)
        });
        if !current {
            stale.push((component.clone(), hash));
        }
    }
    stale.sort_by(|(a, _), (b, _)| (&a.package, &a.name).cmp(&(&b.package, &b.name)));
    Ok(stale)
}

fn entry(component: &Component, sha256: String, toolchain: &Toolchain, inputs_sha256: &str) -> Entry {
    Entry {
        file: format!("{}.wasm", component.name),
        package: component.package.clone(),
        sha256,
        toolchain: toolchain.version.clone(),
        inputs: component.inputs.clone(),
        inputs_sha256: inputs_sha256.to_owned(),
    }
}

/// The cargo call for a `group` of components of one package. Packages are built one by one because cargo joins the features of what it
/// builds together: the registry must not get a standard library because a tenant next to it uses one.
fn cargo_build(
    workspace: &Workspace,
    all: &[Component],
    group: &[(Component, String)],
    toolchain: &Toolchain,
) -> Command {
    let mut command = toolchain.cargo("build");
    command.current_dir(&workspace.root).args(["--profile", PROFILE, "--target-dir", TARGET_DIR]);
    // One guest that does not compile must not keep the others from being built.
    command.args(["--keep-going", "--message-format", "json-render-diagnostics"]);
    let Some((first, _)) = group.first() else { return command };
    command.args(["--package", &first.package]);
    if group.iter().any(|(component, _)| !component.program) {
        command.arg("--lib");
    }
    let programs: Vec<&str> =
        group.iter().filter(|(c, _)| c.program).map(|(component, _)| component.target.as_str()).collect();
    if programs.len() == all.iter().filter(|c| c.program && c.package_id == first.package_id).count() {
        command.args((!programs.is_empty()).then_some("--bins"));
    } else {
        command.args(programs.iter().flat_map(|program| ["--bin", program]));
    }
    command
}

/// Runs cargo for one package and returns the core modules that came out, and whether all did.
fn compile(command: &mut Command) -> Result<(Modules, Result<()>)> {
    let mut modules = Modules::new();
    let remedy = "mend what is named above";
    let status = process::run_lines(command, remedy, |line| {
        if let Ok(Message::CompilerArtifact { target, filenames }) = serde_json::from_str(line) {
            let wasm = filenames.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "wasm"));
            if let Some(wasm) = wasm {
                let program = target.kind.iter().any(|kind| kind == "bin");
                modules.insert((target.name, program), wasm);
            }
        }
    })?;
    Ok((modules, process::succeeded(command, status, remedy)))
}

/// Makes a component of `module` and returns its hash.
fn encode(module: &Path, component: &Path) -> Result<String> {
    let bytes = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let encoded = ComponentEncoder::default().validate(true).module(&bytes)?.encode()?;
    // A file that is written again looks new to the builds that read it.
    if fs::read(component).ok().as_deref() != Some(&encoded) {
        manifest::replace(component, &encoded)?;
    }
    Ok(manifest::sha256(&encoded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::{sample, sample_at};

    #[test]
    fn names_select_components() {
        let all = sample().components().unwrap();
        assert_eq!(select(&all, &[]).unwrap(), all);
        let one = select(&all, &["registry".into()]).unwrap();
        assert_eq!(one.iter().map(|component| component.package.as_str()).collect::<Vec<_>>(), ["hal-registry"]);
        let error = select(&all, &["registyr".into()]).unwrap_err().to_string();
        assert!(error.starts_with("no guest is called `registyr`; a guest is a member of the workspace"), "{error}");
        assert!(
            error.contains("`members` of Cargo.toml") && error.ends_with("; there are: deny_b ok_a registry"),
            "{error}"
        );
    }

    #[test]
    fn one_cargo_call_builds_what_a_package_lacks() {
        let workspace = sample();
        let all = workspace.components().unwrap();
        let shown = |names: &[&str]| {
            let group: Vec<_> =
                all.iter().filter(|c| names.contains(&c.name.as_str())).map(|c| (c.clone(), String::new())).collect();
            process::display(&cargo_build(&workspace, &all, &group, &Toolchain::for_tests()))
        };
        for (names, expected) in [
            (&["registry"][..], " --package hal-registry --lib"),
            (&["ok_a"], " --package test-guests --bin ok_a"),
            (&["ok_a", "deny_b"], " --package test-guests --bins"),
        ] {
            assert!(shown(names).ends_with(&format!("json-render-diagnostics{expected}")), "{}", shown(names));
        }
    }

    #[test]
    fn only_artifacts_count_among_cargos_messages() {
        let mut command = Command::new("printf");
        command.arg(concat!(
            r#"{"reason":"build-script-executed","package_id":"x"}\n"#,
            r#"{"reason":"compiler-artifact","package_id":"p","target":{"name":"a","kind":["bin"]},"filenames":["/t/a.wasm"]}\n"#,
            r#"{"reason":"compiler-artifact","package_id":"p","target":{"name":"b","kind":["lib"]},"filenames":["/t/b.rlib"]}\n"#,
            r#"not json\n"#,
        ));
        let (modules, built) = compile(&mut command).unwrap();
        built.unwrap();
        let key = ("a".to_owned(), true);
        assert_eq!(modules, Modules::from([(key, PathBuf::from("/t/a.wasm"))]));
    }

    #[test]
    fn what_is_current_is_not_built_again() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = sample_at(dir.path().to_str().unwrap());
        for input in ["guest/sdk", "guest/registry", "drivers/uri", "tests/guests", COMPONENTS] {
            fs::create_dir_all(dir.path().join(input)).unwrap();
        }
        let toolchain = Toolchain::for_tests();
        let mut all = workspace.components().unwrap();
        let mut manifest = Manifest::default();
        for (component, hash) in stale(&workspace, &manifest, &all, &toolchain).unwrap() {
            fs::write(dir.path().join(COMPONENTS).join(format!("{}.wasm", component.name)), "wasm").unwrap();
            let entry = entry(&component, manifest::sha256(b"wasm"), &toolchain, &hash);
            manifest.components.insert(component.name, entry);
        }
        assert_eq!(manifest.components.len(), all.len());
        assert_eq!(stale(&workspace, &manifest, &all, &toolchain).unwrap(), vec![]);

        fs::write(dir.path().join("drivers/uri/x"), "new").unwrap();
        let names = |stale: Vec<(Component, String)>| stale.into_iter().map(|(c, _)| c.name).collect::<Vec<_>>();
        assert_eq!(names(stale(&workspace, &manifest, &all, &toolchain).unwrap()), ["registry"]);
        fs::write(dir.path().join(COMPONENTS).join("ok_a.wasm"), "else").unwrap();
        assert_eq!(names(stale(&workspace, &manifest, &all, &toolchain).unwrap()), ["registry", "ok_a"]);

        all.retain(|component| component.name == "deny_b");
        forget(dir.path(), &mut manifest, &all).unwrap();
        assert_eq!(manifest.components.keys().collect::<Vec<_>>(), ["deny_b"]);
        assert!(!dir.path().join(COMPONENTS).join("ok_a.wasm").exists());
        assert!(dir.path().join(COMPONENTS).join("deny_b.wasm").exists());
    }
}
