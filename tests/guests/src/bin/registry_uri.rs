//! URIs are taken apart as written, through the registry and by the driver itself. The driver `uri` has the paths `p`, `/p`, `p q`,
//! `b:c` and `P`; a device of it says in its name what parameters it was opened with.
#![no_main]

use test_guests::{Outcome, Registry, StatusCode, check::explained, check::fine, check::refused, check::same, guest};

guest!(run);

fn run() -> Outcome {
    let registry = Registry::default();
    let driver = fine(registry.try_create("uri"), "the driver")?;
    for (uri, path, parameters) in [
        ("uri", "p", "[]"),
        ("uri:", "p", "[]"),
        ("uri:/", "p", "[]"),
        ("uri://", "p", "[]"),
        ("uri:p", "p", "[]"),
        ("uri:/p", "p", "[]"),
        ("uri://p", "p", "[]"),
        ("uri:///p", "/p", "[]"),
        ("uri://p q", "p q", "[]"),
        ("uri:b:c", "b:c", "[]"),
        ("uri://P", "P", "[]"),
        ("uri://p?", "p", "[]"),
        ("uri://p?&", "p", "[]"),
        ("uri://p?&&", "p", "[]"),
        ("uri://p?a", "p", "[(\"a\", \"\")]"),
        ("uri://p?&a", "p", "[(\"a\", \"\")]"),
        ("uri://p?a&", "p", "[(\"a\", \"\")]"),
        ("uri://p?&a&", "p", "[(\"a\", \"\")]"),
        ("uri://p?a=", "p", "[(\"a\", \"\")]"),
        ("uri://p?a=b", "p", "[(\"a\", \"b\")]"),
        ("uri://p?a=b&c", "p", "[(\"a\", \"b\"), (\"c\", \"\")]"),
        ("uri://p?a=b&c=", "p", "[(\"a\", \"b\"), (\"c\", \"\")]"),
        ("uri://p?a=b=c", "p", "[(\"a\", \"b=c\")]"),
        ("uri://p?=v", "p", "[(\"\", \"v\")]"),
        ("uri://p?a&&b", "p", "[(\"a\", \"\"), (\"\", \"\"), (\"b\", \"\")]"),
        ("uri://p?a&&", "p", "[(\"a\", \"\"), (\"\", \"\")]"),
        ("uri://p?params??", "p", "[(\"params??\", \"\")]"),
        ("uri://p?a=1&a=2", "p", "[(\"a\", \"1\"), (\"a\", \"2\")]"),
        ("uri:?a=%20", "p", "[(\"a\", \"%20\")]"),
    ] {
        let by_registry = fine(registry.create_device(uri), &format!("opening {uri:?}"))?.info();
        let by_driver = fine(driver.create_device_by_uri(uri), &format!("opening {uri:?} by the driver"))?.info();
        for info in [by_registry, by_driver] {
            let found = (info.path.as_str(), info.name.as_str());
            same(found, (path, parameters), &format!("path and parameters of {uri:?}"))?;
        }
    }
    for uri in ["uri://p%20q", "uri://p/", "uri:////p", "uri://p#p", "uri:// p"] {
        explained(
            registry.create_device(uri),
            StatusCode::NotFound,
            &[uri],
            &format!("{uri:?}, which is no path here"),
        )?;
    }
    refused(driver.create_device_by_uri("null://"), StatusCode::InvalidArgument, "another driver's scheme")?;
    for uri in ["", ":p", "URI://p", "ur://p", "urix://p"] {
        refused(registry.create_device(uri), StatusCode::NotFound, &format!("the scheme of {uri:?}"))?;
        refused(
            driver.create_device_by_uri(uri),
            StatusCode::InvalidArgument,
            &format!("{uri:?}, whose scheme is not the driver's"),
        )?;
    }
    explained(
        registry.create_device("uri://p?hat=1"),
        StatusCode::InvalidArgument,
        &["hat", "uri://p?hat=1"],
        "a parameter that the driver does not know",
    )
    .map(drop)
}
