//! Random expressions: what is in scope, and what is made of it.

use crate::forms::forms;
use crate::random::Random;
use crate::tree::{BOOL, Expr, F16, F32, I32, I64, Scalar, Type, U32, U64, members};

/// Something that has a name.
#[derive(Clone)]
pub struct Variable {
    /// How it is written; with `$0` where it takes an index, any `u32`.
    pub text: String,
    pub ty: Type,
    pub writable: bool,
    /// The same in the whole workgroup, so that it may decide about barriers. It is assigned to in uniform control flow only.
    pub uniform: bool,
    /// A pointer to it can be passed on.
    pub local: bool,
}

/// A function that expressions may call.
#[derive(Clone)]
pub struct Callee {
    pub name: String,
    /// Types of parameters by value.
    pub values: Vec<Type>,
    /// What its last parameter points to.
    pub pointer: Option<Type>,
    pub result: Type,
}

/// Makes a kernel. What it makes up next depends on what is in scope.
pub struct Generator {
    pub random: Random,
    pub scope: Vec<Variable>,
    pub callees: Vec<Callee>,
    /// Names given so far.
    pub names: u32,
    /// How many statements there may still be.
    pub left: u32,
    /// Only values that are the same in the whole workgroup are wanted.
    pub uniform: bool,
    /// Inside the entry point, where invocations know who they are.
    pub entry: bool,
    /// What numbers there are beside those that every device has.
    pub scalars: Vec<Scalar>,
    /// Whether subgroups do things together.
    pub subgroups: bool,
    /// Whether there are atomic floats.
    pub atomic_floats: bool,
}

/// A way into a type: what to write behind the variable (`#` for an index), how many elements each index picks from, what is there.
struct Path {
    suffix: String,
    bounds: Vec<u8>,
    ty: Type,
}

fn paths(ty: &Type) -> Vec<Path> {
    let mut found = vec![Path { suffix: String::new(), bounds: Vec::new(), ty: ty.clone() }];
    let mut enter = |step: &str, bound: Option<u8>, part: &Type| {
        for path in paths(part) {
            let bounds = bound.into_iter().chain(path.bounds).collect();
            found.push(Path { suffix: format!("{step}{}", path.suffix), bounds, ty: path.ty });
        }
    };
    match ty {
        Type::Scalar(_) => {}
        Type::Vector(size, scalar) => {
            enter("[#]", Some(*size), &Type::Scalar(*scalar));
            ["x", "y", "z", "w"].iter().take(usize::from(*size)).for_each(|name| {
                enter(&format!(".{name}"), None, &Type::Scalar(*scalar));
            });
        }
        Type::Matrix(columns, rows, scalar) => enter("[#]", Some(*columns), &Type::Vector(*rows, *scalar)),
        Type::Array(element, count) => enter("[#]", Some(*count), element),
        Type::Item => members().iter().for_each(|(name, member)| enter(&format!(".{name}"), None, member)),
    }
    found
}

impl Generator {
    /// A type of a variable.
    pub fn ty(&mut self) -> Type {
        let mut scalars = vec![Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::U32, Scalar::F32];
        scalars.extend(&self.scalars);
        let scalar = *self.random.pick(&scalars);
        let size = 2 + self.random.below(3) as u8;
        match self.random.below(20) {
            0..11 => Type::Scalar(scalar),
            11..15 => Type::Vector(size, scalar),
            15 => {
                let scalar = if scalar == Scalar::F16 { scalar } else { Scalar::F32 };
                Type::Matrix(size, 2 + self.random.below(3) as u8, scalar)
            }
            16 => Type::Item,
            17 => Type::Array(Box::new(Type::Vector(size, scalar)), 2 + self.random.below(3) as u8),
            _ => Type::Array(Box::new(Type::Scalar(scalar)), 2 + self.random.below(6) as u8),
        }
    }

    /// A number as it is written, that the front end takes for a constant.
    fn constant(&mut self, scalar: Scalar) -> String {
        match scalar {
            Scalar::Bool => ["true", "false"][self.random.below(2)].to_owned(),
            // The lowest has no literal.
            Scalar::I32 => format!("({}i)", self.random.word().cast_signed().max(-i32::MAX)),
            Scalar::U32 => format!("{}u", self.random.word()),
            Scalar::I64 => format!("({}li)", self.random.wide().cast_signed().max(-i64::MAX)),
            Scalar::U64 => format!("{}lu", self.random.wide()),
            Scalar::F16 => format!("({:?}h)", f32::from(self.random.below(64) as u16) * 0.375 - 8.0),
            Scalar::F32 => match self.random.float() {
                value if value.is_finite() => format!("({value:?}f)"),
                _ => "0.5f".to_owned(),
            },
        }
    }

    /// A number that the front end does not know: it refuses what it can see is wrong, and computes what it can.
    fn literal(&mut self, ty: &Type) -> Expr {
        let text = match ty {
            // Every second one, every second pair, the first few: all ways in which vectors of four are parted.
            Type::Scalar(Scalar::Bool) if self.entry && !self.uniform && self.random.percent(75) => {
                let (bit, count) = (self.random.below(4), self.random.below(9));
                [format!("(((l >> {bit}u) & 1u) == 0u)"), format!("(l >= {count}u)")][self.random.below(2)].clone()
            }
            Type::Scalar(Scalar::Bool) => format!("(known.x == {}u)", self.random.below(2)),
            Type::Scalar(Scalar::I32) => format!("({} + i32(known.w))", self.constant(Scalar::I32)),
            Type::Scalar(Scalar::U32) => format!("({} + known.w)", self.constant(Scalar::U32)),
            Type::Scalar(scalar @ (Scalar::I64 | Scalar::U64)) => {
                format!("({} + {scalar}(known.w))", self.constant(*scalar))
            }
            Type::Scalar(scalar @ (Scalar::F16 | Scalar::F32)) => {
                format!("({} * {scalar}(known.z))", self.constant(*scalar))
            }
            Type::Vector(_, scalar) => format!("{ty}({})", self.literal(&Type::Scalar(*scalar)).form),
            _ => format!("{ty}()"),
        };
        Expr::leaf(ty.clone(), text)
    }

    /// A value of a type, out of at most so many levels.
    pub fn expr(&mut self, ty: &Type, depth: u32) -> Expr {
        if depth == 0 || self.random.percent(25) {
            return self.leaf(ty, depth);
        }
        if self.random.percent(12)
            && let Some(call) = self.call(ty, depth)
        {
            return call;
        }
        if self.random.percent(12)
            && let Some(load) = self.load(ty, depth)
        {
            return load;
        }
        if self.random.percent(10)
            && let Some(value) = self.collective(ty, depth)
        {
            return value;
        }
        let mut forms = forms(ty);
        forms.retain(|form| form.operands.iter().filter_map(Type::scalar).all(|scalar| self.has(scalar)));
        if forms.is_empty() {
            return self.leaf(ty, depth);
        }
        let form = self.random.pick(&forms);
        let (text, operands) = (form.text, form.operands.clone());
        let text = self.fill(text, ty);
        let parts = operands.iter().map(|operand| self.expr(operand, depth - 1)).collect();
        Expr::new(ty.clone(), text, parts)
    }

    /// Whether there are such numbers.
    pub fn has(&self, scalar: Scalar) -> bool {
        !matches!(scalar, Scalar::I64 | Scalar::U64 | Scalar::F16) || self.scalars.contains(&scalar)
    }

    /// The numbers and the type in a form.
    fn fill(&mut self, text: &str, ty: &Type) -> String {
        let scalar = match ty {
            Type::Scalar(scalar) | Type::Vector(_, scalar) => *scalar,
            _ => Scalar::F32,
        };
        let whole = |number: String| if matches!(ty, Type::Vector(..)) { format!("{ty}({number})") } else { number };
        let mut text = text.replace("%T", &ty.to_string());
        if text.contains("%k") {
            text = text.replace("%k", &whole(self.constant(scalar)));
        }
        if text.contains("%s") {
            let size = if let Type::Vector(size, _) = ty { format!("vec{size}<u32>") } else { String::new() };
            text = text.replace("%s", &format!("{size}({}u)", self.random.below(32)));
        }
        let suffix = scalar.suffix();
        text.replace("%d", &whole(format!("{}{suffix}", self.random.pick(&[1, 2, 3, 7, 8, 10, 64, 1000]))))
    }

    fn leaf(&mut self, ty: &Type, depth: u32) -> Expr {
        if self.random.percent(60)
            && let Some(place) = self.place(ty, false, depth)
        {
            return place;
        }
        let mut names = vec!["known.y", "arrayLength(&in_u)", "shared_in.a.x", "shared_in.list[1].y"];
        if self.entry {
            names.extend(["group.x", "group.y", "groups.x", "number", "gangs", "lanes"]);
            if !self.uniform {
                names.extend(["l", "l", "id.x", "id.x", "id.y", "local.x", "local.z", "place", "lane", "gang"]);
            }
        }
        if *ty == U32 && self.random.percent(60) {
            return Expr::leaf(U32, *self.random.pick(&names));
        }
        self.literal(ty)
    }

    /// An index for something of so many elements: in range, brought into range, or out of it, where the last one is meant.
    fn index(&mut self, count: u8, depth: u32) -> (String, Option<Expr>) {
        let inner = depth.saturating_sub(1).min(2);
        match self.random.below(6) {
            0 | 1 => (self.random.below(usize::from(count)).to_string(), None),
            2 => ("$".to_owned(), Some(self.expr(&U32, inner))),
            3 => {
                let types = [I32, I32, I64, U64];
                let count = if self.scalars.contains(&Scalar::I64) { types.len() } else { 1 };
                let ty = types[self.random.below(count)].clone();
                ("$".to_owned(), Some(self.expr(&ty, inner)))
            }
            _ => {
                let index = self.expr(&U32, inner);
                ("$".to_owned(), Some(Expr::new(U32, format!("($0 % {count}u)"), vec![index])))
            }
        }
    }

    /// A variable of a type, or a part of one.
    pub fn place(&mut self, want: &Type, write: bool, depth: u32) -> Option<Expr> {
        let mut found = Vec::new();
        for variable in self.visible() {
            let may_write = variable.writable && variable.uniform == self.uniform;
            if (!write || may_write) && (!self.uniform || variable.uniform) {
                let paths = paths(&variable.ty).into_iter().filter(|path| path.ty == *want);
                found.extend(paths.map(|path| (variable.text.clone(), path)));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (mut text, path) = found.swap_remove(self.random.below(found.len()));
        let mut parts = Vec::new();
        if text.contains("$0") {
            parts.push(self.expr(&U32, depth.saturating_sub(1).min(1)));
        }
        let mut bounds = path.bounds.into_iter();
        for letter in path.suffix.chars() {
            if letter == '#' {
                let (index, part) = self.index(bounds.next().unwrap_or(1), depth);
                text.push_str(&index);
                if let Some(part) = part {
                    text.push_str(&parts.len().to_string());
                    parts.push(part);
                }
            } else {
                text.push(letter);
            }
        }
        Some(Expr::new(want.clone(), text, parts))
    }

    /// What is in scope and not hidden by something else of the same name.
    fn visible(&self) -> Vec<Variable> {
        let hidden = |at: usize, text: &str| self.scope[at + 1..].iter().any(|later| later.text == text);
        let seen = self.scope.iter().enumerate().filter(|(at, variable)| !hidden(*at, &variable.text));
        seen.map(|(_, variable)| variable.clone()).collect()
    }

    /// A call of a function, with a pointer if it takes one and there is something to point to.
    fn call(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        // What a function answers may differ from one invocation to the next.
        if self.uniform {
            return None;
        }
        let mut fitting: Vec<Callee> = self.callees.iter().filter(|callee| callee.result == *ty).cloned().collect();
        let mut pointed = Vec::new();
        fitting.retain(|callee| {
            let Some(target) = &callee.pointer else { return true };
            let found =
                self.visible().into_iter().find(|it| it.local && it.writable && !it.uniform && it.ty == *target);
            pointed.extend(found.iter().map(|variable| (callee.name.clone(), variable.text.clone())));
            found.is_some()
        });
        if fitting.is_empty() {
            return None;
        }
        let callee = fitting.swap_remove(self.random.below(fitting.len()));
        let parts: Vec<Expr> = callee.values.iter().map(|value| self.expr(value, depth.min(2) - 1)).collect();
        let mut arguments: Vec<String> = (0..parts.len()).map(|at| format!("${at}")).collect();
        let pointer = pointed.into_iter().find(|(name, _)| *name == callee.name);
        // A pointer that was passed in is passed on as it is; written `(*p)`.
        arguments.extend(pointer.map(|(_, text)| match text.strip_prefix("(*") {
            Some(name) => name.trim_end_matches(')').to_owned(),
            None => format!("&{text}"),
        }));
        Some(Expr::new(ty.clone(), format!("{}({})", callee.name, arguments.join(", ")), parts))
    }

    /// A value from a binding that is only read, at a uniform, an affine or any address; some lie past the end.
    fn load(&mut self, ty: &Type, depth: u32) -> Option<Expr> {
        let (text, ty) = match ty {
            Type::Scalar(Scalar::U32) => ("in_u[@]", U32),
            Type::Scalar(Scalar::F32) => ("in_f[@]", F32),
            Type::Scalar(Scalar::I32) => ("bitcast<i32>(in_u[@])", I32),
            Type::Scalar(Scalar::Bool) => ("(in_u[@] > 9u)", BOOL),
            Type::Vector(3, Scalar::F32) => ("in_v[@].v", ty.clone()),
            Type::Vector(4, Scalar::F32) => ("in_4[@]", ty.clone()),
            Type::Vector(4, Scalar::U32) => ("shared_in.list[@]", ty.clone()),
            Type::Vector(2, Scalar::U32) => ("in_v[@].p", ty.clone()),
            Type::Item => ("in_v[@]", Type::Item),
            Type::Scalar(Scalar::F16) => ("in_h[@].n", F16),
            Type::Vector(3, Scalar::F16) => ("in_h[@].v", ty.clone()),
            Type::Matrix(2, 3, Scalar::F16) => ("in_h[@].m", ty.clone()),
            Type::Scalar(Scalar::I64) => ("in_w[@]", I64),
            Type::Scalar(Scalar::U64) => ("bitcast<u64>(in_w[@])", U64),
            Type::Vector(2, Scalar::U64) => ("in_h[@].p", ty.clone()),
            _ => return None,
        };
        let (address, parts) = self.address(depth - 1);
        Some(Expr::new(ty, text.replace('@', &address), parts))
    }

    /// An address as kernels have it: base and a stride along the invocations, wrapped around, or none of that.
    fn address(&mut self, depth: u32) -> (String, Vec<Expr>) {
        let (near, far) = (self.random.below(9), self.random.word());
        if self.uniform || !self.entry {
            return ("$0".to_owned(), vec![self.expr(&U32, depth.min(1))]);
        }
        let counters = self.scope.iter().map(|variable| &variable.text).filter(|text| text.starts_with('i'));
        let counters: Vec<&String> = counters.filter(|text| text[1..].parse::<u32>().is_ok()).collect();
        if !counters.is_empty() && self.random.percent(60) {
            let counter = counters[self.random.below(counters.len())];
            let forms =
                ["@", "@ * SIZE + l", "l * 4u + @", "@ * groups.x + id.x", "id.x - @", "@ + 1u", "l % 4u * 3u + @"];
            return (self.random.pick(&forms).replace('@', counter), Vec::new());
        }
        let text = match self.random.below(14) {
            0 => "id.x".to_owned(),
            1 => format!("id.x + {near}u"),
            2 => format!("l + {near}u"),
            3 => format!("place * {near}u + 1u"),
            4 => format!("id.x * 4u + {near}u"),
            5 => format!("{near}u - l"),
            6 => format!("l - {near}u"),
            7 => format!("id.x + {far}u"),
            8 => format!("(id.y * groups.x + id.x) * 2u + {near}u"),
            9 => format!("i32(l) - {near}i"),
            10 => format!("l * {far}u"),
            11 => "l / 4u".to_owned(),
            12 => "l ^ 1u".to_owned(),
            _ => "$0 % 16u".to_owned(),
        };
        if text.contains("$0") {
            return (text, vec![self.expr(&U32, depth)]);
        }
        if self.random.percent(40) && !text.contains("i32") {
            // The base is uniform, and maybe the stride.
            self.uniform = true;
            let base = self.expr(&U32, depth.min(1));
            self.uniform = false;
            let text = if self.random.percent(30) { "$0 * l".to_owned() } else { format!("$0 % 8u + ({text})") };
            return (text, vec![base]);
        }
        (text, Vec::new())
    }
}
