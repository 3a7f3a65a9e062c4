struct Bird { at: vec2<f32>, speed: vec2<f32> }
struct Rules { step: f32, near: f32, close: f32, pull: f32 }
@group(0) @binding(0) var<uniform> rules: Rules;
@group(0) @binding(1) var<storage> before: array<Bird>;
@group(0) @binding(2) var<storage, read_write> after: array<Bird>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let count = arrayLength(&before);
    if id.x >= count { return; }
    let me = before[id.x];
    var centre = vec2(0.0);
    var away = vec2(0.0);
    var flock = 0;
    var i = 0u;
    loop {
        if i >= count { break; }
        if i == id.x { continue; }
        let other = before[i];
        let apart = other.at - me.at;
        let squared = dot(apart, apart);
        if squared < rules.near * rules.near { centre += other.at; flock++; }
        if squared < 0.5 { away -= apart; }
        continuing { i++; }
    }
    if flock > 0 { centre = centre / f32(flock) - me.at; }
    var speed = me.speed + centre * 0.25 + away * 0.125;
    if speed.x < -9.0 { speed.x = -9.0; }
    if speed.y > 9.0 { speed.y = 9.0; }
    after[id.x] = Bird(me.at + speed * 0.5, speed);
}
