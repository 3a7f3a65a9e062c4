// Functions that call the next one twice, down to one that divides: no loop, and about as many steps as the driver lets through.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

fn f0(n: f32) -> f32 {
    var x = n + 1.0;
    var y = n + 2.0;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    x = y / x;
    y = sqrt(x) / y;
    return x + y;
}
fn f1(n: f32) -> f32 { return f0(n) + f0(n + 1.0); }
fn f2(n: f32) -> f32 { return f1(n) + f1(n + 2.0); }
fn f3(n: f32) -> f32 { return f2(n) + f2(n + 3.0); }
fn f4(n: f32) -> f32 { return f3(n) + f3(n + 4.0); }
fn f5(n: f32) -> f32 { return f4(n) + f4(n + 5.0); }
fn f6(n: f32) -> f32 { return f5(n) + f5(n + 6.0); }
fn f7(n: f32) -> f32 { return f6(n) + f6(n + 7.0); }
fn f8(n: f32) -> f32 { return f7(n) + f7(n + 8.0); }
fn f9(n: f32) -> f32 { return f8(n) + f8(n + 9.0); }
fn f10(n: f32) -> f32 { return f9(n) + f9(n + 10.0); }
fn f11(n: f32) -> f32 { return f10(n) + f10(n + 11.0); }
fn f12(n: f32) -> f32 { return f11(n) + f11(n + 12.0); }

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) index: u32) {
    output[index] = f12(f32(index + input[index]));
}
