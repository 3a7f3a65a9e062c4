// one
@group(0) /* two */ @binding(0) var<storage, /* three */ read_write> o: array</*four*/ mat2x2<f32 /* five // */>>;
/* six /* seven */ eight */
@compute @workgroup_size(8 /* nine */) fn main(@builtin(global_invocation_id) id: vec3<u32> /* ten */) {
    o[id.x] = /* eleven */ o[id.x] * 2.0; // twelve
}
