//! Checkpoints of the running binary: written at an orderly end, and read by the next start.

use crate::folder::Folder;
use crate::running::{Running, hearth};

fn start(folder: &Folder, store: &str) -> Running {
    Running::of(hearth(&["dev", "--port", "0", "--store", store]).arg("--data").arg(folder.path()))
}

#[test]
fn a_start_reads_a_checkpoint_and_what_is_behind_it() {
    for store in ["fjall", "sled"] {
        let folder = Folder::new(&format!("checkpoint-{store}"));
        let first_segment = folder.path().join("log/00000000000000000001.log");
        for life in 0..3 {
            let mut server = start(&folder, store);
            match life {
                0 => server.says(": new"),
                _ => server.says("recovered from a checkpoint and"),
            };
            // Two of them are more log than an orderly end leaves without a checkpoint.
            for part in 0..2 {
                let long = format!("\"{life}{}\"", "x".repeat(9_000_000));
                let at = format!("/long/{part}.json?ns=one");
                assert_eq!(server.ask("PUT", &at, &long).0, 200);
            }
            assert_eq!(server.ask("PUT", &format!("/lives/{life}.json?ns=two"), "true").0, 200);
            assert_eq!(server.stop(), Some(0));
            // The log is trimmed to the older of two checkpoints, and a tail of 16 MiB of what is before that stays.
            assert_eq!(first_segment.exists(), life < 1, "{store}, life {life}");
        }
        // And what is behind the last one, after a kill.
        let server = start(&folder, store);
        assert_eq!(server.ask("PUT", "/lives/3.json?ns=two", "false").0, 200);
        server.kill();
        let mut server = start(&folder, store);
        server.says("recovered from a checkpoint and");
        assert_eq!(server.ask("GET", "/lives.json?ns=two", ""), (200, "[true,true,true,false]".into()));
        let long = server.ask("GET", "/long/1.json?ns=one", "").1;
        assert_eq!((long.len(), &long[..4]), (9_000_003, "\"2xx"));
        assert_eq!(server.ask("GET", "/readyz", ""), (200, "ok\n".into()));
    }
}
