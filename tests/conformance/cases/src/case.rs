//! A case, its axes, and what it needs.

use crate::{Context, Outcome, target::Target};

/// How a recorded command names its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By the recording's own table.
    Direct,
    /// By slots that the execution fills.
    Table,
}

impl Form {
    /// Both, as they appear in a case's name.
    pub const ALL: [Self; 2] = [Self::Direct, Self::Table];

    /// As it appears in a case's name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Table => "table",
        }
    }
}

/// The executable formats that there are cases for.
pub const FORMATS: [&str; 2] = ["wgsl", "spirv"];

/// One case in one form and format.
pub struct Case<T: Target> {
    /// The suite, named as in IREE where it comes from there.
    pub suite: &'static str,
    /// The case, likewise.
    pub name: &'static str,
    /// How it names buffers, where it is run both ways.
    pub form: Option<Form>,
    /// The format of its kernels, if it has any.
    pub format: Option<&'static str>,
    /// It needs a second thread on the tenant's side.
    pub threads: bool,
    run: Run<T>,
}

type Run<T> = fn(&Context<'_, T>) -> Outcome;

impl<T: Target> Clone for Case<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T: Target> Case<T> {
    /// `suite/name`, with the form and the format behind where the case has them.
    pub fn id(&self) -> String {
        let mut id = format!("{}/{}", self.suite, self.name);
        for part in self.form.map(Form::label).into_iter().chain(self.format) {
            id.push('/');
            id.push_str(part);
        }
        id
    }

    /// Runs it on a fresh device of the target.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn run(&self, target: &T) -> Outcome {
        let context = Context::new(target, self.form.unwrap_or(Form::Direct), self.format)?;
        (self.run)(&context)?;
        if context.checks() == 0 {
            return Err("the case compared nothing".into());
        }
        Ok(())
    }
}

/// Gathers cases.
pub(crate) struct Suite<'a, T: Target> {
    pub(crate) all: &'a mut Vec<Case<T>>,
    pub(crate) suite: &'static str,
}

impl<T: Target> Suite<'_, T> {
    fn add(&mut self, name: &'static str, forms: bool, formats: bool, threads: bool, run: Run<T>) {
        let forms: &[Option<Form>] = if forms { &[Some(Form::Direct), Some(Form::Table)] } else { &[None] };
        let formats: &[Option<&'static str>] = if formats { &[Some(FORMATS[0]), Some(FORMATS[1])] } else { &[None] };
        for form in forms {
            for format in formats {
                let (form, format) = (*form, *format);
                self.all.push(Case { suite: self.suite, name, form, format, threads, run });
            }
        }
    }

    /// A case that is run once.
    pub(crate) fn case(&mut self, name: &'static str, run: Run<T>) {
        self.add(name, false, false, false, run);
    }

    /// A case that is run with direct references and through a binding table.
    pub(crate) fn forms(&mut self, name: &'static str, run: Run<T>) {
        self.add(name, true, false, false, run);
    }

    /// A case that is run once for each format.
    pub(crate) fn formats(&mut self, name: &'static str, run: Run<T>) {
        self.add(name, false, true, false, run);
    }

    /// Both of these.
    pub(crate) fn forms_and_formats(&mut self, name: &'static str, run: Run<T>) {
        self.add(name, true, true, false, run);
    }

    /// A case in which a second thread plays the other side.
    pub(crate) fn threads(&mut self, name: &'static str, run: Run<T>) {
        self.add(name, false, false, true, run);
    }
}
