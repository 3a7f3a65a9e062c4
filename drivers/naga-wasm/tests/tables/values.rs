//! Values that tables are made of.

/// Words without a pattern, the same each time.
pub fn random(count: usize) -> impl Iterator<Item = u32> {
    let step = |state: &mut u32| {
        // An Xorshift generator.
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        Some(*state)
    };
    std::iter::successors(Some(0x9e37_79b9_u32), move |state| step(&mut state.clone())).take(count)
}

/// Floats where something changes: zeros, denormals, halves, ends of integers and of floats.
pub fn float_edges() -> Vec<f32> {
    let sizes = [
        0.0,
        1e-45,
        1.175_494_2e-38,
        f32::MIN_POSITIVE,
        1e-20,
        0.1,
        0.25,
        0.5,
        0.999_999_94,
        1.0,
        1.000_000_1,
        1.5,
        2.0,
        2.5,
        std::f32::consts::PI,
        7.25,
        100.0,
        255.5,
        65_504.0,
        65_520.0,
        4_194_303.5,
        8_388_607.0,
        16_777_216.0,
        2_147_483_520.0,
        2_147_483_648.0,
        4_294_967_040.0,
        4_294_967_296.0,
        1e20,
        f32::MAX,
        f32::INFINITY,
    ];
    sizes.into_iter().flat_map(|size| [size, -size]).chain([f32::NAN]).collect()
}

/// Edges, all exponents, and small numbers: 5,000 or so.
pub fn floats() -> Vec<f32> {
    let any = random(2500).map(f32::from_bits);
    let small = random(2500).map(|word| (f64::from(word) / 2f64.powi(32) * 40.0 - 20.0) as f32);
    float_edges().into_iter().chain(any).chain(small).collect()
}

/// `count` numbers from one to another.
pub fn between(from: f32, to: f32, count: usize) -> Vec<f32> {
    let (from, to) = (f64::from(from), f64::from(to));
    (0..=count).map(|at| (from + (to - from) * at as f64 / count as f64) as f32).collect()
}

/// Integers where something changes.
pub fn word_edges() -> Vec<u32> {
    let small = [0, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 30, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 1000];
    let large = [0x7fff, 0x8000, 0xffff, 0x1_0000, 0xff_ffff, 0x4000_0000, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000];
    let both = small.into_iter().chain(large).flat_map(|word: u32| [word, word.wrapping_neg()]);
    both.chain([0x8000_0001, 0x5555_5555, 0xaaaa_aaaa, 0x0f0f_1234]).collect()
}

/// Every pair, as two columns.
pub fn pairs<T: Copy>(xs: &[T], ys: &[T]) -> [Vec<T>; 2] {
    let (a, b) = xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y))).unzip();
    [a, b]
}

/// Every triple, as three columns.
pub fn triples<T: Copy>(xs: &[T], ys: &[T], zs: &[T]) -> [Vec<T>; 3] {
    let [x, yz] = pairs(&(0..xs.len()).collect::<Vec<_>>(), &(0..ys.len() * zs.len()).collect::<Vec<_>>());
    let column = |pick: &dyn Fn(usize, usize) -> T| x.iter().zip(&yz).map(|(&x, &yz)| pick(x, yz)).collect();
    [column(&|x, _| xs[x]), column(&|_, yz| ys[yz / zs.len()]), column(&|_, yz| zs[yz % zs.len()])]
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
