//! Patterns as they were made up, and where a text can stand after each part of one: sets of positions, no automaton.

use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) from_start: bool,
    pub(crate) to_end: bool,
    pub(crate) ignores_case: bool,
    pub(crate) alternatives: Vec<Sequence>,
}

pub(crate) type Sequence = Vec<Piece>;

/// A part and how often it stands there, the innermost repeat first.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) atom: Atom,
    pub(crate) repeats: Vec<Repeat>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub(crate) least: u32,
    pub(crate) most: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) enum Atom {
    Any,
    Char(char),
    /// `d`, `w`, `s` and their opposites.
    Class(char),
    Set {
        negated: bool,
        items: Vec<Item>,
    },
    Group(Vec<Sequence>),
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Char(char),
    Range(char, char),
    Class(char),
}

type Positions = BTreeSet<usize>;

impl Pattern {
    pub(crate) fn print(&self) -> String {
        let [start, end] =
            [(self.from_start, "^"), (self.to_end, "$")].map(|(is, sign)| if is { sign } else { "" });
        let flag = if self.ignores_case { "i" } else { "" };
        format!("/{start}{}{end}/{flag}", print_alternatives(&self.alternatives))
    }

    /// How many characters it has, repeats counted as often as they may repeat.
    pub(crate) fn weight(&self) -> u64 {
        weight(&self.alternatives)
    }

    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let last = self.alternatives.len() - 1;
        // An anchor is a part of the first or of the last alternative.
        self.alternatives.iter().enumerate().any(|(index, sequence)| {
            let starts = if self.from_start && index == 0 { 0..=0 } else { 0..=text.len() };
            let ends = self.run_sequence(sequence, &text, starts.collect());
            if self.to_end && index == last { ends.contains(&text.len()) } else { !ends.is_empty() }
        })
    }

    fn run_sequence(&self, sequence: &[Piece], text: &[char], from: Positions) -> Positions {
        sequence.iter().fold(from, |from, piece| self.run_repeats(&piece.atom, &piece.repeats, text, from))
    }

    fn run_repeats(&self, atom: &Atom, repeats: &[Repeat], text: &[char], from: Positions) -> Positions {
        let Some((Repeat { least, most }, inner)) = repeats.split_last() else {
            return self.run_atom(atom, text, from);
        };
        let again = |from: Positions| self.run_repeats(atom, inner, text, from);
        let mut at = (0..*least).fold(from, |from, _| again(from));
        let mut all = at.clone();
        // More rounds than there are characters lead nowhere new.
        let rounds = most.map_or(text.len() + 1, |most| (most - least) as usize);
        for _ in 0..rounds {
            at = again(at);
            if at.is_subset(&all) {
                break;
            }
            all.extend(&at);
        }
        all
    }

    fn run_atom(&self, atom: &Atom, text: &[char], from: Positions) -> Positions {
        if let Atom::Group(alternatives) = atom {
            return alternatives
                .iter()
                .flat_map(|sequence| self.run_sequence(sequence, text, from.clone()))
                .collect();
        }
        let fits = |at: &usize| text.get(*at).is_some_and(|&ch| self.fits(atom, ch));
        from.into_iter().filter(fits).map(|at| at + 1).collect()
    }

    fn fits(&self, atom: &Atom, ch: char) -> bool {
        // Case is a matter of ASCII alone.
        let both = |is: &dyn Fn(char) -> bool| {
            is(ch) || (self.ignores_case && (is(ch.to_ascii_lowercase()) || is(ch.to_ascii_uppercase())))
        };
        match atom {
            Atom::Any => true,
            Atom::Char(own) => both(&|ch| ch == *own),
            Atom::Class(class) => is_in_class(*class, ch),
            Atom::Set { negated, items } => {
                let is_in = |ch: char| {
                    items.iter().any(|item| match item {
                        Item::Char(own) => ch == *own,
                        Item::Range(first, last) => (*first..=*last).contains(&ch),
                        Item::Class(class) => is_in_class(*class, ch),
                    })
                };
                both(&is_in) != *negated
            }
            Atom::Group(_) => false,
        }
    }
}

fn weight(alternatives: &[Sequence]) -> u64 {
    let of_piece = |piece: &Piece| {
        let own = if let Atom::Group(inner) = &piece.atom { weight(inner) } else { 1 };
        let times = |repeat: &Repeat| u64::from(repeat.most.unwrap_or(repeat.least + 1));
        own * piece.repeats.iter().map(times).product::<u64>()
    };
    alternatives.iter().flatten().map(of_piece).sum()
}

fn is_in_class(class: char, ch: char) -> bool {
    match class {
        'd' => ch.is_ascii_digit(),
        'w' => ch.is_ascii_alphanumeric() || ch == '_',
        's' => matches!(ch, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}'),
        _ => !is_in_class(class.to_ascii_lowercase(), ch),
    }
}

fn print_alternatives(alternatives: &[Sequence]) -> String {
    let sequence = |sequence: &Sequence| sequence.iter().map(Piece::print).collect::<String>();
    alternatives.iter().map(sequence).collect::<Vec<_>>().join("|")
}

impl Piece {
    fn print(&self) -> String {
        let atom = match &self.atom {
            Atom::Any => ".".into(),
            Atom::Char(ch) => print_char(*ch),
            Atom::Class(class) => format!("\\{class}"),
            Atom::Set { negated, items } => {
                let items: String = items.iter().map(Item::print).collect();
                format!("[{}{items}]", if *negated { "^" } else { "" })
            }
            Atom::Group(alternatives) => format!("({})", print_alternatives(alternatives)),
        };
        atom + &self.repeats.iter().map(Repeat::print).collect::<String>()
    }
}

impl Repeat {
    fn print(&self) -> String {
        match (self.least, self.most) {
            (0, Some(1)) => "?".into(),
            (0, None) => "*".into(),
            (1, None) => "+".into(),
            (least, None) => format!("{{{least},}}"),
            (least, Some(most)) if least == most => format!("{{{least}}}"),
            (least, Some(most)) => format!("{{{least},{most}}}"),
        }
    }
}

impl Item {
    fn print(&self) -> String {
        match self {
            Self::Char(ch) => print_char(*ch),
            Self::Range(first, last) => format!("{}-{}", print_char(*first), print_char(*last)),
            Self::Class(class) => format!("\\{class}"),
        }
    }
}

fn print_char(ch: char) -> String {
    if ch.is_ascii_punctuation() && ch != '_' { format!("\\{ch}") } else { ch.to_string() }
}
