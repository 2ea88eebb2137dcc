//! Texts of a document, and the way back from what they say to where it stands.

use crate::span::Span;

/// A decoded text that remembers where in the document each part of it stands.
#[derive(Clone, Debug)]
pub struct SourceText {
    text: String,
    /// With the quotes.
    span: Span,
    /// Offsets in the decoded text and in the document from which on both advance together; ascending.
    anchors: Vec<(u32, u32)>,
}

impl SourceText {
    /// `anchors` begin with the start of the text.
    pub(crate) const fn new(text: String, span: Span, anchors: Vec<(u32, u32)>) -> Self {
        Self { text, span, anchors }
    }

    /// A text that stands in the document letter by letter.
    pub(crate) fn verbatim(text: &str, span: Span) -> Self {
        Self { text: text.into(), span, anchors: vec![(0, span.start)] }
    }

    /// The text without quotes and escapes.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where it stands in the document, with its quotes.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Where in the document a stretch of the decoded text stands. O(log escapes).
    pub fn locate(&self, within: Span) -> Span {
        Span { start: self.locate_offset(within.start), end: self.locate_offset(within.end) }
    }

    fn locate_offset(&self, offset: u32) -> u32 {
        let behind = self.anchors.partition_point(|&(decoded, _)| decoded <= offset);
        let (decoded, document) = self.anchors[behind - 1];
        document + (offset - decoded)
    }
}

/// The start of a long text, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARS_MAX: usize = 32;
    let start: String = text.chars().take(CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(CHARS_MAX).is_some() { start + "…" } else { start }
}
