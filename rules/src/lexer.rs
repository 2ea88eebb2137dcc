//! The text of an expression as tokens.
//!
//! Why all at once: whether a slash divides or begins a regular expression follows from the token before it, so no
//! conversation with the parser is needed.

use crate::problem::Problem;
use crate::span::Span;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Number(f64),
    Text(String),
    Regex {
        pattern: String,
        flags: String,
    },
    Name(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
    /// A character that no token begins with.
    Stray(char),
    End,
}

/// Longer ones first, so that each finds itself before its beginning.
const SIGNS: [&str; 27] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "//", "/*", "!", "=", "<", ">", "+", "-", "*", "/",
    "%", "?", ":", ".", ",", "(", ")", "[", "]",
];

/// The tokens of an expression, `End` last; or the first thing in it that cannot be read.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, (Span, Problem)> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        let operand_before = tokens.last().is_some_and(|token| token.kind.ends_operand());
        let token = lexer.next(operand_before)?;
        let ended = token.kind == TokenKind::End;
        // What stands in a comment is no expression, and not for us to read: the parser refuses the comment itself.
        let commented = matches!(token.kind, TokenKind::Sign("//" | "/*"));
        let end = Span::new(token.span.end as usize, token.span.end as usize);
        tokens.push(token);
        if commented {
            tokens.push(Token { kind: TokenKind::End, span: end });
        }
        if ended || commented {
            return Ok(tokens);
        }
    }
}

impl TokenKind {
    /// Whether an operand can end here, so that a slash behind it divides.
    const fn ends_operand(&self) -> bool {
        match self {
            Self::Number(_) | Self::Text(_) | Self::Regex { .. } | Self::Name(_) => true,
            Self::Sign(sign) => matches!(sign.as_bytes(), b")" | b"]"),
            Self::Stray(_) | Self::End => false,
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&mut self, operand_before: bool) -> Result<Token, (Span, Problem)> {
        self.at = self.text.len() - self.rest().trim_start().len();
        let start = self.at;
        let kind = match self.rest().chars().next() {
            None => TokenKind::End,
            Some('0'..='9') => self.number(),
            Some('.') if self.rest()[1..].starts_with(|ch: char| ch.is_ascii_digit()) => self.number(),
            Some(quote @ ('"' | '\'')) => self.string(quote)?,
            Some(ch) if is_name_start(ch) => self.name(),
            Some('/')
                if !operand_before && !self.rest().starts_with("//") && !self.rest().starts_with("/*") =>
            {
                self.regex()?
            }
            Some(ch) => self.sign(ch),
        };
        Ok(Token { kind, span: Span::new(start, self.at) })
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|ch| !accept(ch)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        self.take_while(|ch| ch.is_ascii_digit());
        if self.rest().starts_with('.') {
            self.at += 1;
            self.take_while(|ch| ch.is_ascii_digit());
        }
        let exponent = self.rest().strip_prefix(['e', 'E']);
        let exponent = exponent.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if let Some(digits) = exponent.filter(|rest| rest.starts_with(|ch: char| ch.is_ascii_digit())) {
            self.at = self.text.len() - digits.len();
            self.take_while(|ch| ch.is_ascii_digit());
        }
        let number = self.text[start..self.at].parse();
        TokenKind::Number(number.expect("digits with a point and an exponent are a number"))
    }

    fn name(&mut self) -> TokenKind {
        TokenKind::Name(self.take_while(|ch| is_name_start(ch) || ch.is_ascii_digit()).into())
    }

    fn sign(&mut self, ch: char) -> TokenKind {
        match SIGNS.into_iter().find(|sign| self.rest().starts_with(sign)) {
            Some(sign) => {
                self.at += sign.len();
                TokenKind::Sign(sign)
            }
            None => {
                self.at += ch.len_utf8();
                TokenKind::Stray(ch)
            }
        }
    }

    fn string(&mut self, quote: char) -> Result<TokenKind, (Span, Problem)> {
        let start = self.at;
        self.at += 1;
        // UTF-16, because two escapes can make one character.
        let mut units: Vec<u16> = Vec::new();
        loop {
            let unclosed = (Span::new(start, start + 1), Problem::UnclosedString);
            let ch = self.rest().chars().next().filter(|ch| !matches!(ch, '\n' | '\r')).ok_or(unclosed)?;
            self.at += ch.len_utf8();
            match ch {
                '\\' => self.escape(&mut units)?,
                _ if ch == quote => break,
                _ => units.extend_from_slice(ch.encode_utf16(&mut [0; 2])),
            }
        }
        Ok(TokenKind::Text(String::from_utf16_lossy(&units)))
    }

    /// What follows a backslash in a text, as in JavaScript (rules reference 2.1).
    fn escape(&mut self, units: &mut Vec<u16>) -> Result<(), (Span, Problem)> {
        // At the end of the text nothing follows, and the text is then reported as not closed.
        let Some(ch) = self.rest().chars().next() else { return Ok(()) };
        self.at += ch.len_utf8();
        units.push(match ch {
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'b' => 0x08,
            'f' => 0x0C,
            'v' => 0x0B,
            'x' => self.code(ch, 2)?,
            'u' => self.code(ch, 4)?,
            other => {
                units.extend_from_slice(other.encode_utf16(&mut [0; 2]));
                return Ok(());
            }
        });
        Ok(())
    }

    fn code(&mut self, ch: char, digits: usize) -> Result<u16, (Span, Problem)> {
        let code = self.rest().get(..digits).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let invalid = (Span::new(self.at - 2, self.at), Problem::InvalidCodeEscape { ch, digits });
        let code = code.and_then(|code| u16::from_str_radix(code, 16).ok()).ok_or(invalid)?;
        self.at += digits;
        Ok(code)
    }

    fn regex(&mut self) -> Result<TokenKind, (Span, Problem)> {
        let start = self.at;
        let (mut escaped, mut in_set) = (false, false);
        let end = self.rest().char_indices().skip(1).find_map(|(at, ch)| {
            match ch {
                '\n' | '\r' => return Some(None),
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_set = true,
                ']' => in_set = false,
                '/' if !in_set => return Some(Some(at)),
                _ => {}
            }
            None
        });
        let unclosed = || (Span::new(start, start + 1), Problem::UnclosedRegex);
        let len = end.flatten().ok_or_else(unclosed)?;
        let pattern = self.rest()[1..len].into();
        self.at += len + 1;
        let flags = self.take_while(|ch| ch.is_ascii_alphanumeric()).into();
        Ok(TokenKind::Regex { pattern, flags })
    }
}

const fn is_name_start(ch: char) -> bool {
    ch.is_ascii_alphabetic() || matches!(ch, '_' | '$')
}
