//! Prints what the passes make of a kernel, `emit FILE.wgsl ENTRY [PASS]`, or writes the module: `emit FILE.wgsl ENTRY wasm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match emit(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn emit(arguments: &[String]) -> Result<(), String> {
    let (file, entry, wanted) = match arguments {
        [file, entry] => (file, entry, None),
        [file, entry, pass] => (file, entry, Some(pass)),
        _ => return Err("usage: emit FILE.wgsl ENTRY [PASS | wasm]".to_owned()),
    };
    let source = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let module = naga::front::wgsl::parse_str(&source).map_err(|error| error.emit_to_string(&source))?;
    let flags = naga::valid::ValidationFlags::all();
    let info = naga::valid::Validator::new(flags, naga::valid::Capabilities::all())
        .validate(&module)
        .map_err(|error| error.emit_to_string(&source))?;
    let options = naga_wasm::Options::default();
    let mut seen = Vec::new();
    let mut show = |pass: &'static str, text: &str| {
        seen.push(pass);
        if wanted.is_none_or(|wanted| wanted == pass) {
            println!("-- {pass}\n{text}");
        }
    };
    let kernel =
        naga_wasm::compile_observed(&module, &info, entry, &options, &mut show).map_err(|error| {
            match error.span.map(|span| span.location(&source)) {
                Some(place) => format!("{}:{}: {error}", place.line_number, place.line_position),
                None => error.to_string(),
            }
        })?;
    if let Some("wasm") = wanted.map(String::as_str) {
        use std::io::Write;
        return std::io::stdout().write_all(&kernel.wasm).map_err(|error| error.to_string());
    }
    match wanted {
        Some(pass) if !seen.contains(&pass.as_str()) => {
            Err(format!("there is no code to show after `{pass}`; there is after: {}; or `wasm`", seen.join(", ")))
        }
        _ => Ok(()),
    }
}
