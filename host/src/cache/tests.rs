//! What the cache of compiled code believes, keeps and forgets.

use super::*;
use std::{os::unix::fs::symlink, time::Duration};

fn key_of(text: &str) -> Key {
    Key::new(text.as_bytes(), &[7; 32])
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn refusal(result: Result<CodeCache>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn what_was_stored_is_found_again_also_by_another_process() {
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("code");
    let cache = CodeCache::open(&folder).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    cache.store(&key_of("a"), b"native code");
    assert_eq!(cache.load(&key_of("a")).as_deref(), Some(&b"native code"[..]));
    assert_eq!(cache.load(&key_of("b")), None);
    let again = CodeCache::open(&folder).unwrap();
    assert_eq!(again.load(&key_of("a")).as_deref(), Some(&b"native code"[..]));
}

#[test]
fn a_changed_entry_is_removed() {
    let at = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(at.path().join("code")).unwrap();
    cache.store(&key_of("a"), b"native code");
    let path = cache.path(&key_of("a"));
    for cut in [0, 7, 39, 45] {
        let mut bytes = fs::read(&path).unwrap();
        bytes.truncate(cut);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(cache.load(&key_of("a")), None, "cut to {cut}");
        assert!(!path.exists());
        cache.store(&key_of("a"), b"native code");
    }
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(cache.load(&key_of("a")), None);
    // An entry under another's name.
    cache.store(&key_of("a"), b"native code");
    fs::rename(&path, cache.path(&key_of("b"))).unwrap();
    assert_eq!(cache.load(&key_of("b")), None);
}

#[test]
fn an_entry_of_another_installation_is_not_loaded() {
    let at = tempfile::tempdir().unwrap();
    let (one, two) = (at.path().join("one"), at.path().join("two"));
    let (one, two) = (CodeCache::open(&one).unwrap(), CodeCache::open(&two).unwrap());
    one.store(&key_of("a"), b"native code");
    fs::copy(one.path(&key_of("a")), two.path(&key_of("a"))).unwrap();
    assert_eq!(two.load(&key_of("a")), None);
}

#[test]
fn a_link_or_a_file_that_others_can_write_is_not_loaded() {
    let at = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(at.path().join("code")).unwrap();
    cache.store(&key_of("a"), b"native code");
    let (path, aside) = (cache.path(&key_of("a")), at.path().join("aside"));
    fs::rename(&path, &aside).unwrap();
    symlink(&aside, &path).unwrap();
    assert_eq!(cache.load(&key_of("a")), None);
    fs::rename(&aside, &path).unwrap();
    mode(&path, 0o666);
    assert_eq!(cache.load(&key_of("a")), None);
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("code");
    CodeCache::open(&folder).unwrap();
    mode(&folder, 0o770);
    assert!(refusal(CodeCache::open(&folder)).contains("others can write it (mode 770)"));
    mode(&folder, 0o700);
    mode(at.path(), 0o777);
    assert!(refusal(CodeCache::open(&folder)).contains("can be written by others (mode 777)"));
    mode(at.path(), 0o700);
    mode(&folder.join(KEY), 0o644);
    assert!(refusal(CodeCache::open(&folder)).contains("key"));
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("code");
    fs::create_dir(&folder).unwrap();
    if std::os::unix::fs::chown(&folder, Some(65534), None).is_err() {
        eprintln!("skipped: giving a folder to another user takes root");
        return;
    }
    assert!(refusal(CodeCache::open(&folder)).contains("belongs to user 65534"));
    // The same for a folder above it.
    let below = folder.join("below");
    fs::create_dir(&below).unwrap();
    assert!(refusal(CodeCache::open(&below)).contains("belongs to user 65534"));
}

#[test]
fn the_entries_used_longest_ago_go_first() {
    let at = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(at.path().join("code")).unwrap().max_bytes(250);
    for name in ["a", "b"] {
        cache.store(&key_of(name), &[0; 60]);
    }
    ["a", "b"].iter().for_each(|name| age(&cache, name));
    assert!(cache.load(&key_of("a")).is_some());
    cache.store(&key_of("c"), &[0; 60]);
    assert!(cache.load(&key_of("a")).is_some());
    assert!(cache.load(&key_of("b")).is_none());
    assert!(cache.load(&key_of("c")).is_some());
}

/// Moves the use of an entry back by a minute.
fn age(cache: &CodeCache, name: &str) {
    let old = SystemTime::now() - Duration::from_secs(60);
    File::options().append(true).open(cache.path(&key_of(name))).unwrap().set_modified(old).unwrap();
}

#[test]
fn there_are_only_so_many_entries() {
    let at = tempfile::tempdir().unwrap();
    let mut inner = Inner::clone(&CodeCache::open(at.path().join("code")).unwrap().0);
    inner.max_entries = 2;
    let cache = CodeCache(Arc::new(inner));
    for name in ["a", "b"] {
        cache.store(&key_of(name), b"code");
        age(&cache, name);
    }
    assert!(cache.load(&key_of("a")).is_some());
    cache.store(&key_of("c"), b"code");
    let left = ["a", "b", "c"].map(|name| cache.load(&key_of(name)).is_some());
    assert_eq!(left, [true, false, true]);
}

#[test]
fn what_is_larger_than_the_cache_is_not_kept() {
    let at = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(at.path().join("code")).unwrap().max_bytes(100);
    cache.store(&key_of("a"), &[0; 101]);
    assert_eq!(cache.load(&key_of("a")), None);
    assert!(!cache.path(&key_of("a")).exists());
}

#[test]
fn the_parts_of_a_drivers_code_are_told_apart() {
    let at = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(at.path().join("code")).unwrap();
    let driver: &dyn hal_driver::CodeCache = &cache;
    driver.store(&[b"ab", b"c"], b"code");
    assert_eq!(driver.load(&[b"ab", b"c"]).as_deref(), Some(&b"code"[..]));
    for parts in [&[&b"a"[..], b"bc"][..], &[b"abc"], &[b"ab", b"c", b""], &[]] {
        assert_eq!(driver.load(parts), None, "{parts:?}");
    }
}

#[test]
fn two_that_write_and_two_that_read_only_ever_see_what_is_whole() {
    const ROUNDS: usize = 200;
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("code");
    let lengths = [10_000, 20_000];
    let whole = |code: &[u8]| {
        lengths.contains(&code.len()) && code.iter().all(|byte| usize::from(*byte) == code.len() / 10_000)
    };
    std::thread::scope(|scope| {
        for length in lengths {
            let cache = CodeCache::open(&folder).unwrap();
            let code = vec![(length / 10_000) as u8; length];
            scope.spawn(move || (0..ROUNDS).for_each(|_| cache.store(&key_of("a"), &code)));
        }
        for _ in 0..2 {
            let cache = CodeCache::open(&folder).unwrap();
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    assert!(cache.load(&key_of("a")).is_none_or(|code| whole(&code)));
                }
            });
        }
    });
    assert!(CodeCache::open(&folder).unwrap().load(&key_of("a")).is_some_and(|code| whole(&code)), "nobody removed it");
    let temporary = |path: &Path| path.extension().is_some_and(|extension| extension == TEMPORARY);
    assert_eq!(fs::read_dir(&folder).unwrap().filter(|entry| temporary(&entry.as_ref().unwrap().path())).count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_read_all_the_same() {
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("code");
    CodeCache::open(&folder).unwrap().store(&key_of("a"), b"code");
    mode(&folder, 0o500);
    let cache = CodeCache::open(&folder).unwrap();
    cache.store(&key_of("b"), b"code");
    if cache.load(&key_of("b")).is_some() {
        eprintln!("skipped: to root every folder can be written");
    }
    assert_eq!(cache.load(&key_of("a")).as_deref(), Some(&b"code"[..]));
    mode(&folder, 0o700);
}

/// The same for every user: nothing can be written where there is no folder any more.
#[test]
fn a_folder_that_is_gone_costs_time_only() {
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("code");
    let cache = CodeCache::open(&folder).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    cache.store(&key_of("a"), b"code");
    assert_eq!(cache.load(&key_of("a")), None);
}

#[test]
fn the_key_is_not_shown() {
    let at = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(at.path().join("code")).unwrap();
    let shown = format!("{cache:?}");
    assert!(shown.starts_with("CodeCache { folder:") && shown.ends_with(", .. }"), "{shown}");
}
