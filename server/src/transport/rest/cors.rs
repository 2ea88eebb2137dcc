//! What browsers must be told before they let a page use an answer (rest reference 1.7).
//!
//! Why open to every page: the service is, and its credentials are never cookies.

use crate::auth::Gate;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// The methods of data.
pub(super) const DATA_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const METHODS: HeaderValue = HeaderValue::from_static(DATA_METHODS);
/// For who does not say which headers it wants to send.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, If-Match, If-None-Match, X-Firebase-ETag, X-HTTP-Method-Override, \
     X-Firebase-AppCheck, X-Firebase-Decoding, Cache-Control, Last-Event-ID",
);
const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Lets pages of every origin read this answer.
pub(super) fn open(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("ETag, Location, Retry-After, X-Firebase-Auth-Debug, X-Request-Id"),
    );
}

/// Answers `OPTIONS` of any path. A page on the internet that asks whether it may reach into this network is told so only
/// if the gate takes it for a friend: with any other answer the browser keeps it out.
pub(super) fn preflight(gate: &Gate, request: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ALLOW, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    let wanted = request.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.unwrap_or(HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    if request.contains_key(REQUEST_PRIVATE_NETWORK) && !gate.is_foreign() {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}
