//! The page that notices when the page around it goes.

use super::visit::Ticket;

/// The page of the hidden frame that a client opens (wire reference 14.3): when it is unloaded, it says so to the address
/// that it came from.
///
/// Why both ways of saying it: a page that goes may not wait for answers, so a beacon is what browsers still send then;
/// those that have none send a request that holds up the unloading.
pub fn farewell_page(ticket: &Ticket) -> String {
    let Ticket { id, password } = ticket;
    let (id, password) = (id.as_str(), password.as_str());
    format!(
        r#"<!DOCTYPE html>
<meta charset="utf-8">
<title>Hearth</title>
<script>
var url = "?disconn=t&id={id}&pw={password}", isSaid = false;
function sayGoodbye() {{
  if (isSaid) return;
  isSaid = true;
  if (navigator.sendBeacon && navigator.sendBeacon(url)) return;
  var request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.send();
}}
addEventListener("pagehide", sayGoodbye);
addEventListener("unload", sayGoodbye);
</script>
"#
    )
}
