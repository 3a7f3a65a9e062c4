//! Walks WGSL once, token by token, before the parser sees it, and refuses what the parser could not bear.
//!
//! It knows just enough of the language to count: comments, words, operators, brackets. What it lets through may be any
//! nonsense; the parser says so.

use crate::error::{ErrorCode, KernelError, quote};
use crate::limits::{MAX_ELSE_IFS, MAX_LIST_TOKENS, MAX_PREFIX_RUN, MAX_STATEMENT_TOKENS, SourceLimits};
use crate::place;

/// A token's kind, as far as counting goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// An operator; with the number of prefix operators that it could be.
    Operator(usize),
    Open,
    Close,
    OpenParen,
    CloseParen,
    Semicolon,
    Comma,
}

/// Refuses `source` if it exceeds a cap.
pub(crate) fn check(source: &str, limits: &SourceLimits) -> Result<(), KernelError> {
    let mut scan = Scan::new(source, limits);
    let mut at = 0;
    while let Some((token, start, end)) = next_token(source, at) {
        scan.token(token, start)?;
        at = end;
    }
    Ok(())
}

struct Scan<'a> {
    source: &'a str,
    limits: &'a SourceLimits,
    tokens: usize,
    /// Tokens since the statement began, without what stands in a list before the present element; and where it began. The
    /// parser's recursion goes no deeper than this.
    statement: usize,
    statement_start: usize,
    /// Tokens since the statement began, all of them.
    whole: usize,
    /// Prefix operators in a row, and where they began.
    run: usize,
    run_start: usize,
    /// Length of the `else if` chain at each depth of braces.
    chains: Vec<usize>,
    /// For each open parenthesis or bracket, what `statement` was behind it.
    lists: Vec<usize>,
    declarations: usize,
    statements: usize,
    in_struct: bool,
    /// Between `fn` and its body. Parameters are no list: what takes thousands of them was not tried.
    in_header: bool,
    previous_was_else: bool,
    previous_was_close: bool,
}

impl<'a> Scan<'a> {
    fn new(source: &'a str, limits: &'a SourceLimits) -> Self {
        Self {
            source,
            limits,
            tokens: 0,
            statement: 0,
            statement_start: 0,
            whole: 0,
            run: 0,
            run_start: 0,
            chains: vec![0],
            lists: Vec::new(),
            declarations: 0,
            statements: 0,
            in_struct: false,
            in_header: false,
            previous_was_else: false,
            previous_was_close: false,
        }
    }

    fn depth(&self) -> usize {
        self.chains.len() - 1
    }

    fn token(&mut self, token: Token, at: usize) -> Result<(), KernelError> {
        self.tokens += 1;
        self.check(self.tokens, self.limits.tokens, "tokens in all", "split the kernel", at)?;
        self.prefix_run(token, at)?;
        self.else_if(token, at)?;
        match token {
            Token::Open => self.open(at)?,
            Token::Close => self.close(at)?,
            Token::Semicolon if self.lists.is_empty() => self.end_statement(at)?,
            Token::Comma if self.in_struct && self.depth() == 1 && self.lists.is_empty() => self.forget_statement(),
            _ => self.part_of_statement(token, at)?,
        }
        self.previous_was_else = token == Token::Word("else");
        self.previous_was_close = token == Token::Close;
        Ok(())
    }

    fn prefix_run(&mut self, token: Token, at: usize) -> Result<(), KernelError> {
        let Token::Operator(count) = token else {
            self.run = 0;
            return Ok(());
        };
        if count == 0 {
            self.run = 0;
            return Ok(());
        }
        if self.run == 0 {
            self.run_start = at;
        }
        self.run += count;
        self.check(self.run, MAX_PREFIX_RUN, "prefix operators in a row", "use parentheses", self.run_start)
    }

    fn else_if(&mut self, token: Token, at: usize) -> Result<(), KernelError> {
        let continues = token == Token::Word("else");
        let chained = self.previous_was_else && token == Token::Word("if");
        let Some(chain) = self.chains.last_mut() else { return Ok(()) };
        if chained {
            *chain += 1;
        } else if self.previous_was_close && !continues {
            *chain = 0;
        }
        let length = *chain;
        self.check(length, MAX_ELSE_IFS, "`else if` in one chain", "use `switch`", at)
    }

    fn open(&mut self, at: usize) -> Result<(), KernelError> {
        if self.depth() == 0 {
            self.statements = 0;
        } else {
            self.count_statement(at)?;
        }
        self.chains.push(0);
        self.forget_statement();
        Ok(())
    }

    fn close(&mut self, at: usize) -> Result<(), KernelError> {
        if self.depth() > 0 {
            self.chains.pop();
        }
        self.forget_statement();
        if self.depth() == 0 {
            self.in_struct = false;
            self.count_declaration(at)?;
        }
        Ok(())
    }

    fn end_statement(&mut self, at: usize) -> Result<(), KernelError> {
        // An empty statement is nothing, and nothing is what the one after a structure is.
        let empty = self.statement == 0;
        self.forget_statement();
        if self.depth() == 0 && !empty {
            return self.count_declaration(at);
        }
        Ok(())
    }

    fn forget_statement(&mut self) {
        self.statement = 0;
        self.whole = 0;
        self.lists.clear();
        self.in_header = false;
    }

    fn part_of_statement(&mut self, token: Token, at: usize) -> Result<(), KernelError> {
        if self.statement == 0 {
            self.statement_start = at;
            if self.depth() > 0 {
                self.count_statement(at)?;
            }
        }
        self.statement += 1;
        self.whole += 1;
        match token {
            Token::OpenParen => self.lists.push(self.statement),
            Token::CloseParen => drop(self.lists.pop()),
            Token::Comma if !self.in_header => self.statement = self.lists.last().copied().unwrap_or(self.statement),
            Token::Word("struct") if self.depth() == 0 => self.in_struct = true,
            Token::Word("fn") if self.depth() == 0 => self.in_header = true,
            _ => {}
        }
        let remedy = "split it, or read the values from a buffer";
        self.check(self.whole, MAX_LIST_TOKENS, "tokens in one statement", remedy, self.statement_start)?;
        let (found, limit) = (self.statement, MAX_STATEMENT_TOKENS);
        self.check(found, limit, "tokens in one statement or element of a list", remedy, self.statement_start)
    }

    fn count_statement(&mut self, at: usize) -> Result<(), KernelError> {
        // What begins with words before a brace (`if x {`, `loop {`) was counted at its first word.
        if self.statement > 0 {
            return Ok(());
        }
        self.statements += 1;
        let limit = self.limits.function_statements;
        self.check(self.statements, limit, "statements in one function", "split the function", at)
    }

    fn count_declaration(&mut self, at: usize) -> Result<(), KernelError> {
        self.declarations += 1;
        let limit = self.limits.declarations;
        self.check(self.declarations, limit, "declarations at module scope", "remove what is not used", at)
    }

    fn check(&self, found: usize, limit: usize, what: &str, remedy: &str, at: usize) -> Result<(), KernelError> {
        if found <= limit {
            return Ok(());
        }
        let text: String = self.source.get(at..).unwrap_or_default().chars().take(32).collect();
        let message = format!("more than {limit} {what}, at `{}`; {remedy}", quote(&text));
        Err(KernelError::new(ErrorCode::ResourceExhausted, message).at(Some(place::of_offset(self.source, at))))
    }
}

/// Where the name of a function stands that is declared at module scope.
pub(crate) fn function(source: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    let mut before = None;
    while let Some((token, start, end)) = next_token(source, at) {
        if before == Some(Token::Word("fn")) && token == Token::Word(name) {
            return Some(start);
        }
        before = Some(token);
        at = end;
    }
    None
}

/// The token at or after `at`, with where it starts and ends.
fn next_token(source: &str, at: usize) -> Option<(Token<'_>, usize, usize)> {
    let start = skip_blank(source, at);
    let rest = source.get(start..)?;
    let first = rest.chars().next()?;
    if is_word(first) {
        let number = first.is_ascii_digit();
        let mut before = first;
        let length = rest
            .char_indices()
            .find(|&(offset, character)| {
                let sign = number && matches!(character, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P');
                before = character;
                offset > 0 && !(is_word(character) || sign || (number && character == '.'))
            })
            .map_or(rest.len(), |(offset, _)| offset);
        return Some((Token::Word(rest.get(..length).unwrap_or_default()), start, start + length));
    }
    let end = start + first.len_utf8();
    let token = match first {
        '{' => Token::Open,
        '}' => Token::Close,
        '(' | '[' => Token::OpenParen,
        ')' | ']' => Token::CloseParen,
        ';' => Token::Semicolon,
        ',' => Token::Comma,
        _ => return Some(operator(rest, start)),
    };
    Some((token, start, end))
}

/// An operator: two characters where the language has such a one.
fn operator(rest: &str, start: usize) -> (Token<'_>, usize, usize) {
    const PAIRS: [&str; 20] = [
        "&&", "||", "==", "!=", "<=", ">=", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<",
        ">>", "::",
    ];
    let pair = PAIRS.iter().find(|pair| rest.starts_with(**pair));
    let text = pair.copied().unwrap_or_else(|| {
        let length = rest.chars().next().map_or(0, char::len_utf8);
        rest.get(..length).unwrap_or_default()
    });
    let prefixes = if text.contains('=') || text == "->" {
        usize::from(text.starts_with(['!', '-', '~', '*', '&']) && !text.contains('='))
    } else {
        text.chars().filter(|&character| matches!(character, '!' | '-' | '~' | '*' | '&')).count()
    };
    (Token::Operator(prefixes), start, start + text.len().max(1))
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '@' || !character.is_ascii()
}

/// Skips blanks and comments. Block comments nest.
fn skip_blank(source: &str, mut at: usize) -> usize {
    loop {
        let rest = source.get(at..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
        at += blank;
        let rest = source.get(at..).unwrap_or_default();
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += block_comment(rest);
        } else {
            return at;
        }
    }
}

fn block_comment(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}
