use super::*;
use alloc::{string::String, vec};

/// Scheme, path and what stands behind the `?`, for each input.
const URIS: &[(&str, &str, &str, &str)] = &[
    ("", "", "", ""),
    ("s", "s", "", ""),
    ("schema", "schema", "", ""),
    ("schema:", "schema", "", ""),
    ("schema:path", "schema", "path", ""),
    ("schema:/path", "schema", "path", ""),
    ("schema://path", "schema", "path", ""),
    ("schema:/", "schema", "", ""),
    ("schema://", "schema", "", ""),
    ("schema:///", "schema", "/", ""),
    ("schema:///path", "schema", "/path", ""),
    ("schema://path?params??", "schema", "path", "params??"),
    ("schema:?a=b", "schema", "", "a=b"),
    ("schema:path?", "schema", "path", ""),
    (":x", "", "x", ""),
    ("a:b:c", "a", "b:c", ""),
    // Without a colon the whole is the scheme, a `?` included.
    ("s?a=b", "s?a=b", "", ""),
    // Nothing is decoded, folded, trimmed or cut at a fragment.
    (" S%3A :// p%2F#f ", " S%3A ", " p%2F#f ", ""),
];

#[test]
fn every_uri_splits_as_specified() {
    for &(text, scheme_part, path, params) in URIS {
        let uri = Uri::parse(text).unwrap();
        assert_eq!(uri.scheme(), scheme_part, "{text:?}");
        assert_eq!(uri.path(), path, "{text:?}");
        assert_eq!(uri.params(), parse_params(params).unwrap(), "{text:?}");
        assert_eq!(scheme(text), Ok(scheme_part), "{text:?}");
    }
}

#[test]
fn every_parameter_list_splits_as_specified() {
    let none: &[(&str, &str)] = &[];
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("", none),
        ("&", none),
        ("&&", none),
        (" \t&\n", none),
        ("a", &[("a", "")]),
        ("&a", &[("a", "")]),
        ("a&", &[("a", "")]),
        ("&a&", &[("a", "")]),
        ("a=", &[("a", "")]),
        ("  &a&  ", &[("a", "")]),
        ("a=b", &[("a", "b")]),
        ("a=b&c", &[("a", "b"), ("c", "")]),
        ("a=b&c=", &[("a", "b"), ("c", "")]),
        ("a=b=c", &[("a", "b=c")]),
        ("=v", &[("", "v")]),
        ("=", &[("", "")]),
        ("a&&b", &[("a", ""), ("", ""), ("b", "")]),
        ("a&&", &[("a", ""), ("", "")]),
        ("&&&", &[("", ""), ("", "")]),
        // Order and duplicates are kept; white space inside belongs to the pair.
        ("b=2&a=1&b=1", &[("b", "2"), ("a", "1"), ("b", "1")]),
        ("a = b & c", &[("a ", " b "), (" c", "")]),
        ("params??", &[("params??", "")]),
    ];
    for &(text, pairs) in cases {
        assert_eq!(parse_params(text).unwrap(), pairs, "{text:?}");
    }
}

#[test]
fn a_uri_of_4096_bytes_is_taken_and_one_more_is_not() {
    let mut text = String::from("cpu://");
    text.extend(core::iter::repeat_n('x', MAX_URI_BYTES - text.len()));
    assert!(Uri::parse(&text).is_ok() && scheme(&text) == Ok("cpu"));
    text.push('x');
    let refused = Error::TooLong { bytes: MAX_URI_BYTES + 1 };
    assert_eq!(Uri::parse(&text), Err(refused));
    assert_eq!(scheme(&text), Err(refused));
}

#[test]
fn a_hundred_and_twenty_eight_parameters_are_taken_and_one_more_is_not() {
    let list = vec!["k=v"; MAX_PARAMS].join("&");
    assert_eq!(parse_params(&list).unwrap().len(), MAX_PARAMS);
    // One `&` at either end is stripped, so it makes no parameter of its own.
    assert_eq!(parse_params(&alloc::format!("&{list}&")).unwrap().len(), MAX_PARAMS);
    assert_eq!(parse_params(&alloc::format!("{list}&k")), Err(Error::TooManyParams));
    assert_eq!(Uri::parse(&alloc::format!("cpu:?{list}&&")), Err(Error::TooManyParams));
}

#[test]
fn an_error_does_not_repeat_the_text() {
    use alloc::string::ToString;
    let text = "secret".repeat(1000);
    let message = Uri::parse(&text).unwrap_err().to_string();
    assert!(!message.contains("secret") && message.contains("6000"), "{message}");
}
