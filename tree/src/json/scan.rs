//! Where in a text that is not complete its members end: strings and brackets, and nothing else.

/// How far a text was looked at: offsets in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    at: usize,
    /// Brackets that were opened since, and not closed.
    depth: usize,
    is_in_string: bool,
    /// The comma behind the last whole member.
    pub(super) comma: Option<usize>,
    /// The bracket with which the value of the member behind that begins.
    pub(super) opened: Option<usize>,
}

impl Scan {
    /// At that offset, between two members.
    pub(super) const fn at(at: usize) -> Self {
        Self { at, depth: 0, is_in_string: false, comma: None, opened: None }
    }

    /// What stood before `to` is gone, and what follows stands at `now`.
    pub(super) fn shift(&mut self, to: usize, now: usize) {
        self.at = self.at.max(to) - to + now;
        let moved = |place: Option<usize>| place.filter(|&place| to <= place).map(|place| place - to + now);
        (self.comma, self.opened) = (moved(self.comma), moved(self.opened));
    }

    /// Looks at what has come. The bracket that closes what was open from the beginning, if it comes.
    pub(super) fn look(&mut self, text: &[u8]) -> Option<usize> {
        while let Some(&byte) = text.get(self.at) {
            if self.is_in_string {
                self.pass_string(text)?;
                continue;
            }
            match byte {
                b'"' => self.is_in_string = true,
                b'{' | b'[' => {
                    if self.depth == 0 {
                        self.opened.get_or_insert(self.at);
                    }
                    self.depth += 1;
                }
                b'}' | b']' => match self.depth.checked_sub(1) {
                    Some(depth) => self.depth = depth,
                    None => return Some(self.at),
                },
                b',' if self.depth == 0 => {
                    self.comma = Some(self.at);
                    self.opened = None;
                }
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    /// Goes behind the string, if its end is there.
    fn pass_string(&mut self, text: &[u8]) -> Option<()> {
        let found = memchr::memchr2(b'"', b'\\', &text[self.at..]);
        self.at = found.map_or(text.len(), |found| self.at + found);
        if *text.get(self.at)? == b'"' {
            self.is_in_string = false;
            self.at += 1;
        } else {
            // A backslash, and what it escapes.
            text.get(self.at + 1)?;
            self.at += 2;
        }
        Some(())
    }
}
