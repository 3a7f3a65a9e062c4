//! Everything generated from the WIT, and nothing else.
#![allow(missing_docs, reason = "generated; documented in wit/")]
#![allow(unsafe_code, reason = "the canonical ABI is raw pointers; the generator answers for them")]

wit_bindgen::generate!({
    path: ["../../wit/device", "../../wit/registry"],
    world: "hal:registry/registry-component",
    generate_all,
});
