//! Compressed answers, and compressed bodies.
//!
//! Why by hand and not by a layer of the HTTP library: both encoders are here anyway, and only who knows how long an answer
//! was to be can tell one that is whole from one that has broken off. Event streams are never compressed: what an encoder
//! holds back would come with the next event (rest reference, appendix B). An `ETag` is that of the data, however they
//! travel: clients send it back as `if-match`, and it is no tag of HTTP.

use super::apart;
use super::refused::Refused;
use super::stream::is_event_stream;
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::{GzEncoder, MultiGzDecoder};
use futures_util::stream::{Stream, StreamExt, unfold};
use std::io::{self, Write};
use std::pin::Pin;

/// Shorter answers are not worth it: they fit into one packet.
const BYTES_MIN: u64 = 1_400;
/// What is encoded at once while others wait.
const AT_ONCE: usize = 16 * 1024;
/// What a decoder is given at once. It can become a thousand times as much.
const DECODED_AT_ONCE: usize = 1024;
/// Fastest of zstd's usual levels: half the time of gzip's fastest, and shorter.
const ZSTD_LEVEL: i32 = 1;

/// How an answer travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Zstd,
    Gzip,
}

impl Coding {
    const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// What a client likes best of what there is (RFC 9110, 12.5.3); gzip, where it likes both as much and does not name
    /// zstd. None, where it asks for neither, or would rather have the text as it is.
    pub(super) fn wished(headers: &HeaderMap) -> Option<Self> {
        // As most requests.
        if !headers.contains_key(ACCEPT_ENCODING) {
            return None;
        }
        let (mut gzip, mut zstd, mut others, mut identity) = (None, None, None, None);
        let texts = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|text| text.to_str().ok());
        for wish in texts.flat_map(|text| text.split(',')) {
            let (name, quality) = wish.split_once(';').unwrap_or((wish, ""));
            let Some(quality) = thousandths(quality.trim()) else { continue };
            match name.trim().to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => gzip = Some(quality),
                "zstd" => zstd = Some(quality),
                "identity" => identity = Some(quality),
                "*" => others = Some(quality),
                _ => {}
            }
        }
        let gzip = gzip.or(others).unwrap_or(0);
        let zstd = zstd.unwrap_or(0);
        let plain = identity.unwrap_or(0);
        let best = if gzip <= zstd { (Self::Zstd, zstd) } else { (Self::Gzip, gzip) };
        (0 < best.1 && plain <= best.1).then_some(best.0)
    }
}

/// `q=0.5` as 500; nothing is 1,000, and what is no quality is none.
fn thousandths(quality: &str) -> Option<u32> {
    if quality.is_empty() {
        return Some(1_000);
    }
    let (name, value) = quality.split_once('=')?;
    let value: f64 = value.trim().parse().ok()?;
    let is_quality = name.trim().eq_ignore_ascii_case("q") && (0.0..=1.0).contains(&value);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1,000")]
    is_quality.then_some((value * 1_000.0) as u32)
}

/// What encodes a text piece by piece.
enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    // It has buffers of half a mebibyte and more behind a pointer.
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    fn new(coding: Coding) -> io::Result<Self> {
        Ok(match coding {
            Coding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast())),
            Coding::Zstd => Self::Zstd(zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?),
        })
    }

    /// What can be sent now that this has come; often nothing.
    fn add(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        Ok(match self {
            Self::Gzip(encoder) => {
                encoder.write_all(text)?;
                std::mem::take(encoder.get_mut())
            }
            Self::Zstd(encoder) => {
                encoder.write_all(text)?;
                std::mem::take(encoder.get_mut())
            }
        })
    }

    fn end(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

/// The answer as its client wishes to have it.
pub(super) fn encode(method: &Method, wished: Option<Coding>, mut response: Response) -> Response {
    let headers = response.headers();
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let bytes = said.or_else(|| axum::body::HttpBody::size_hint(response.body()).exact());
    let is_stream = is_event_stream(headers);
    // What has no length is no answer of ours that could be told from one that broke off.
    let Some(bytes) = bytes.filter(|&bytes| BYTES_MIN <= bytes) else { return response };
    if is_stream || headers.contains_key(CONTENT_ENCODING) {
        return response;
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let Some(coding) = wished else { return response };
    let Ok(encoder) = Encoder::new(coding) else { return response };
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    if method == Method::HEAD {
        // The same headers as of a GET; nothing is encoded for nobody.
        let nothing = futures_util::stream::empty::<io::Result<Bytes>>();
        return Response::from_parts(parts, Body::from_stream(nothing));
    }
    let left = Left {
        body: body.into_data_stream().map(|piece| piece.map_err(io::Error::other)).boxed(),
        encoder,
        bytes,
    };
    Response::from_parts(parts, Body::from_stream(unfold(Some(left), next).fuse()))
}

/// What is left to encode.
struct Left {
    body: Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>,
    encoder: Encoder,
    /// How long it is.
    bytes: u64,
}

/// The next piece to send, and what is left then.
async fn next(left: Option<Left>) -> Option<(io::Result<Bytes>, Option<Left>)> {
    let mut left = left?;
    loop {
        match left.body.next().await {
            Some(Ok(text)) => {
                left.bytes = left.bytes.saturating_sub(text.len() as u64);
                let encoded = if text.len() <= AT_ONCE {
                    left.encoder.add(&text).map(|encoded| (encoded, left.encoder))
                } else {
                    let Left { mut encoder, .. } = left;
                    let added = apart(move || Ok(encoder.add(&text).map(|encoded| (encoded, encoder))));
                    added.await.unwrap_or_else(|_| Err(io::Error::other("the server ends")))
                };
                match encoded {
                    Err(error) => return Some((Err(error), None)),
                    Ok((encoded, encoder)) => {
                        left = Left { encoder, body: left.body, bytes: left.bytes };
                        if !encoded.is_empty() {
                            return Some((Ok(encoded.into()), Some(left)));
                        }
                    }
                }
            }
            Some(Err(error)) => return Some((Err(error), None)),
            // Its client took nothing for too long. An end would say that this is all.
            None if 0 < left.bytes => {
                return Some((Err(io::Error::other("the answer has broken off")), None));
            }
            None => return Some((left.encoder.end().map(Bytes::from), None)),
        }
    }
}

/// A body as it was before its client has compressed it. What comes of it is what limits count: a body that is short and
/// becomes very long is refused where a long one is, and no more than that is ever decoded.
///
/// # Errors
/// 415 for whatever is not gzip.
pub(super) fn decode(headers: &HeaderMap, body: Body) -> Result<Body, Refused> {
    let codings = headers.get_all(CONTENT_ENCODING);
    let mut codings = codings.into_iter().flat_map(|text| text.as_bytes().split(|&byte| byte == b','));
    let is_named = |coding: &[u8], name: &str| coding.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
    let first = codings.find(|coding| !is_named(coding, "identity") && !coding.trim_ascii().is_empty());
    let Some(first) = first else { return Ok(body) };
    if !(is_named(first, "gzip") || is_named(first, "x-gzip")) || codings.next().is_some() {
        return Err(Refused::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the Content-Encoding of a body must be gzip, once, or there must be none",
        ));
    }
    let coming = Coming {
        body: body.into_data_stream().map(|piece| piece.map_err(io::Error::other)).boxed(),
        text: Bytes::new(),
        decoder: MultiGzDecoder::new(Vec::new()),
    };
    // Whoever reads a long body looks again behind its end.
    Ok(Body::from_stream(unfold(Some(coming), decoded).fuse()))
}

/// What comes of a compressed body.
struct Coming {
    body: Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>,
    /// Not decoded yet.
    text: Bytes,
    decoder: MultiGzDecoder<Vec<u8>>,
}

async fn decoded(coming: Option<Coming>) -> Option<(io::Result<Bytes>, Option<Coming>)> {
    let mut coming = coming?;
    let damaged = |error: io::Error| {
        io::Error::other(format!("the body is not gzip, or it is damaged or not whole: {error}"))
    };
    loop {
        if coming.text.is_empty() {
            match coming.body.next().await {
                Some(Ok(text)) => coming.text = text,
                Some(Err(error)) => return Some((Err(error), None)),
                None => {
                    let ended = coming.decoder.finish().map(Bytes::from).map_err(damaged);
                    return Some((ended, None));
                }
            }
        }
        let part = coming.text.split_to(coming.text.len().min(DECODED_AT_ONCE));
        if let Err(error) = coming.decoder.write_all(&part) {
            return Some((Err(damaged(error)), None));
        }
        let text = std::mem::take(coming.decoder.get_mut());
        if !text.is_empty() {
            return Some((Ok(text.into()), Some(coming)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_what_they_like_best() {
        for (wishes, expected) in [
            (&[][..], None),
            (&[""], None),
            (&["gzip"], Some(Coding::Gzip)),
            (&["GZIP"], Some(Coding::Gzip)),
            (&["x-gzip;q=0.1"], Some(Coding::Gzip)),
            (&["zstd"], Some(Coding::Zstd)),
            (&["gzip, deflate, br"], Some(Coding::Gzip)),
            (&["gzip, deflate, br, zstd"], Some(Coding::Zstd)),
            (&["gzip", "zstd"], Some(Coding::Zstd)),
            (&["gzip;q=1.0, zstd; q=0.9"], Some(Coding::Gzip)),
            (&["gzip;q=0.5, zstd;q=0.6, identity;q=0.6"], Some(Coding::Zstd)),
            (&["gzip;q=0.5, identity"], None),
            (&["gzip;q=0"], None),
            (&["gzip;q=0.000, *"], None),
            (&["*"], Some(Coding::Gzip)),
            (&["*;q=0"], None),
            (&["identity, *;q=0"], None),
            (&["br"], None),
            (&["gzip;q=2"], None),
            (&["gzip;level=1"], None),
            (&["gzip;q=x, zstd"], Some(Coding::Zstd)),
        ] {
            let headers = wishes.iter().map(|&wish| (ACCEPT_ENCODING, HeaderValue::from_static(wish)));
            assert_eq!(Coding::wished(&headers.collect()), expected, "{wishes:?}");
        }
    }
}
