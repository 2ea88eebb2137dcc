//! Tokens to an expression, with the precedence and grouping of JavaScript (rules reference 2.1).
//!
//! Chains of operators, prefixes and members are loops; only what stands inside brackets or behind a `?` recurses, and
//! that is counted against [`EXPRESSION_NESTING_MAX`]. One mistake per expression: what follows a wrong token is a guess.

use crate::ast::{Ast, Binary, ExprId, ExprKind, Logic};
use crate::lexer::{Token, TokenKind, tokens};
use crate::limits::EXPRESSION_NESTING_MAX;
use crate::problem::Problem;
use crate::source_text::excerpt;
use crate::span::Span;

type Parsed<T> = Result<T, (Span, Problem)>;

/// Reads a whole expression.
pub(crate) fn parse(text: &str) -> Parsed<Ast> {
    let tokens = tokens(text)?;
    if let [end] = tokens.as_slice() {
        return Err((end.span, Problem::EmptyExpression));
    }
    let mut parser = Parser { text, tokens, at: 0, depth: 0, ast: Ast::default() };
    parser.expression()?;
    if *parser.peek() == TokenKind::End {
        Ok(parser.ast)
    } else {
        Err(parser.unexpected("an operator or the end of the expression"))
    }
}

struct Parser<'a> {
    text: &'a str,
    /// `End` last; never read beyond.
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    ast: Ast,
}

/// An expression and where it stands, with the parentheses around it.
#[derive(Clone, Copy)]
struct Operand {
    id: ExprId,
    span: Span,
}

#[derive(Clone, Copy)]
enum Infix {
    Binary(Binary),
    Logic(Logic),
}

impl Parser<'_> {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The current token; the end is never passed.
    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Sign(own) if *own == sign);
        if found {
            self.advance();
        }
        found
    }

    fn push(&mut self, kind: ExprKind, span: Span) -> Operand {
        Operand { id: self.ast.push(kind, span), span }
    }

    fn expression(&mut self) -> Parsed<Operand> {
        if self.depth == EXPRESSION_NESTING_MAX {
            return Err((self.span(), Problem::ExpressionTooNested));
        }
        self.depth += 1;
        let mut whole = self.infix()?;
        if self.eat("?") {
            let then = self.expression()?;
            if !self.eat(":") {
                return Err(self.unexpected("`:` and what else the conditional gives"));
            }
            let otherwise = self.expression()?;
            let kind = ExprKind::Conditional { condition: whole.id, then: then.id, otherwise: otherwise.id };
            whole = self.push(kind, whole.span.to(otherwise.span));
        }
        self.depth -= 1;
        Ok(whole)
    }

    /// Operands joined by operators: each operator takes its operands as soon as none that binds tighter can follow.
    fn infix(&mut self) -> Parsed<Operand> {
        let mut operands = vec![self.unary()?];
        let mut operators: Vec<Infix> = Vec::new();
        while let Some(next) = self.peek_infix() {
            while let Some(operator) = operators.pop_if(|operator| next.level() <= operator.level()) {
                self.join(operator, &mut operands);
            }
            operators.push(next);
            self.advance();
            operands.push(self.unary()?);
        }
        while let Some(operator) = operators.pop() {
            self.join(operator, &mut operands);
        }
        Ok(operands[0])
    }

    fn join(&mut self, operator: Infix, operands: &mut Vec<Operand>) {
        let right = operands.pop().expect("an operand was read behind every operator");
        let left = operands.pop().expect("an operand was read before every operator");
        let kind = match operator {
            Infix::Binary(operator) => ExprKind::Binary { operator, left: left.id, right: right.id },
            Infix::Logic(operator) => ExprKind::Logic { operator, left: left.id, right: right.id },
        };
        let joined = self.push(kind, left.span.to(right.span));
        operands.push(joined);
    }

    fn peek_infix(&self) -> Option<Infix> {
        match self.peek() {
            TokenKind::Sign(sign) => Infix::of(sign),
            TokenKind::Number(_)
            | TokenKind::Text(_)
            | TokenKind::Regex { .. }
            | TokenKind::Name(_)
            | TokenKind::Stray(_)
            | TokenKind::End => None,
        }
    }

    fn unary(&mut self) -> Parsed<Operand> {
        let start = self.at;
        while self.eat("!") || self.eat("-") {}
        let prefixes = start..self.at;
        let mut operand = self.postfix()?;
        for at in prefixes.rev() {
            let Token { kind, span } = &self.tokens[at];
            let is_not = *kind == TokenKind::Sign("!");
            let kind = if is_not { ExprKind::Not(operand.id) } else { ExprKind::Negate(operand.id) };
            operand = self.push(kind, span.to(operand.span));
        }
        Ok(operand)
    }

    fn postfix(&mut self) -> Parsed<Operand> {
        let mut operand = self.primary()?;
        loop {
            let bracket = self.span();
            operand = if self.eat(".") {
                self.member(operand)?
            } else if self.eat("[") {
                self.index(operand, bracket)?
            } else if self.eat("(") {
                let (arguments, end) = self.elements(")", '(', bracket)?;
                let kind = ExprKind::Call { callee: operand.id, arguments };
                self.push(kind, operand.span.to(end))
            } else {
                return Ok(operand);
            };
        }
    }

    fn member(&mut self, target: Operand) -> Parsed<Operand> {
        let TokenKind::Name(name) = self.peek() else {
            return Err(self.unexpected("the name of a method or property"));
        };
        let (name, name_span) = (name.clone(), self.span());
        self.advance();
        let kind = ExprKind::Member { target: target.id, name, name_span };
        Ok(self.push(kind, target.span.to(name_span)))
    }

    fn index(&mut self, target: Operand, bracket: Span) -> Parsed<Operand> {
        let index = self.expression()?;
        let end = self.close("]", '[', bracket)?;
        let literal = self.ast.last().filter(|last| matches!(last.kind, ExprKind::Text(_)));
        let literal = literal.map(|last| last.span);
        let kind = match literal.and_then(|span| Some((span, self.ast.pop()?.kind))) {
            Some((name_span, ExprKind::Text(name))) => {
                ExprKind::Member { target: target.id, name, name_span }
            }
            _ => ExprKind::Index { target: target.id, index: index.id },
        };
        Ok(self.push(kind, target.span.to(end)))
    }

    fn primary(&mut self) -> Parsed<Operand> {
        let Token { kind, span } = self.advance();
        let kind = match kind {
            TokenKind::Number(number) => ExprKind::Number(number),
            TokenKind::Text(text) => ExprKind::Text(text),
            TokenKind::Regex { pattern, flags } => ExprKind::Regex { pattern, flags },
            TokenKind::Name(name) => match name.as_str() {
                "true" => ExprKind::Boolean(true),
                "false" => ExprKind::Boolean(false),
                "null" => ExprKind::Null,
                _ => ExprKind::Name(name),
            },
            TokenKind::Sign("(") => {
                let inner = self.expression()?;
                let end = self.close(")", '(', span)?;
                return Ok(Operand { id: inner.id, span: span.to(end) });
            }
            TokenKind::Sign("[") => {
                let (elements, end) = self.elements("]", '[', span)?;
                return Ok(self.push(ExprKind::List(elements), span.to(end)));
            }
            TokenKind::Sign(_) | TokenKind::Stray(_) | TokenKind::End => {
                return Err(self.unexpected_at(&Token { kind, span }, "an operand"));
            }
        };
        Ok(self.push(kind, span))
    }

    /// Expressions between commas up to the closing bracket, whose place comes back.
    fn elements(&mut self, close: &str, open: char, bracket: Span) -> Parsed<(Vec<ExprId>, Span)> {
        let mut elements = Vec::new();
        let mut end = self.span();
        if self.eat(close) {
            return Ok((elements, end));
        }
        loop {
            elements.push(self.expression()?.id);
            end = self.span();
            if self.eat(close) {
                return Ok((elements, end));
            }
            if !self.eat(",") {
                return Err(self.unclosed_or("`,` or the closing bracket", open, bracket));
            }
        }
    }

    fn close(&mut self, close: &str, open: char, bracket: Span) -> Parsed<Span> {
        let end = self.span();
        if self.eat(close) {
            Ok(end)
        } else {
            Err(self.unclosed_or("an operator or the closing bracket", open, bracket))
        }
    }

    fn unclosed_or(&self, expected: &'static str, open: char, bracket: Span) -> (Span, Problem) {
        if *self.peek() == TokenKind::End {
            (bracket, Problem::UnclosedBracket { bracket: open })
        } else {
            self.unexpected(expected)
        }
    }

    fn unexpected(&self, expected: &'static str) -> (Span, Problem) {
        self.unexpected_at(&self.tokens[self.at], expected)
    }

    fn unexpected_at(&self, token: &Token, expected: &'static str) -> (Span, Problem) {
        let found = || format!("`{}`", excerpt(&self.text[token.span.range()]));
        let problem = match token.kind {
            TokenKind::Sign("=") => Problem::Assignment,
            TokenKind::Sign("//" | "/*") => Problem::Comment,
            TokenKind::End => Problem::Unexpected { expected, found: "the end of the expression".into() },
            TokenKind::Number(_)
            | TokenKind::Text(_)
            | TokenKind::Regex { .. }
            | TokenKind::Name(_)
            | TokenKind::Sign(_)
            | TokenKind::Stray(_) => Problem::Unexpected { expected, found: found() },
        };
        (token.span, problem)
    }
}

impl Infix {
    fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "||" => Self::Logic(Logic::Or),
            "&&" => Self::Logic(Logic::And),
            "==" => Self::Binary(Binary::Equal),
            "===" => Self::Binary(Binary::StrictEqual),
            "!=" => Self::Binary(Binary::NotEqual),
            "!==" => Self::Binary(Binary::StrictNotEqual),
            "<" => Self::Binary(Binary::Less),
            "<=" => Self::Binary(Binary::LessOrEqual),
            ">" => Self::Binary(Binary::Greater),
            ">=" => Self::Binary(Binary::GreaterOrEqual),
            "+" => Self::Binary(Binary::Plus),
            "-" => Self::Binary(Binary::Minus),
            "*" => Self::Binary(Binary::Times),
            "/" => Self::Binary(Binary::Divide),
            "%" => Self::Binary(Binary::Remainder),
            _ => return None,
        })
    }

    /// The higher, the tighter.
    const fn level(self) -> u8 {
        match self {
            Self::Logic(Logic::Or) => 1,
            Self::Logic(Logic::And) => 2,
            Self::Binary(Binary::Equal | Binary::StrictEqual | Binary::NotEqual | Binary::StrictNotEqual) => {
                3
            }
            Self::Binary(Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual) => 4,
            Self::Binary(Binary::Plus | Binary::Minus) => 5,
            Self::Binary(Binary::Times | Binary::Divide | Binary::Remainder) => 6,
        }
    }
}
