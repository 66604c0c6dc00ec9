//! Files on a web server, which are read like files on a disk.

use super::data::{lines_of, rows};
use linerate_testkit::program::Folder;
use linerate_testkit::web::Server;

#[test]
fn files_on_a_server_are_read_in_part() {
    let folder = Folder::new();
    folder.write("rows", &lines_of(&rows(1, 3000, 3)));
    folder.dict(&["build", "--key", "id", "rows", "-o", "rows.blocks"]).ok();
    let blocks = Server::of(folder.read("rows.blocks"));
    let key = rows(1, 3000, 3)[1700]["id"].as_str().expect("text").to_owned();
    let here = folder.dict(&["get", "rows.blocks", &key]).ok().stdout;
    assert_eq!(folder.dict(&["get", &blocks.url(), &key]).ok().stdout, here);
    let (sent, all) = (blocks.bytes(), folder.read("rows.blocks").len() as u64);
    assert!(sent < all / 2, "{sent} of {all}");
    let scanned = folder.dict(&["scan", "rows.blocks"]).ok().stdout;
    assert!(folder.dict(&["scan", &blocks.url()]).ok().stdout == scanned);

    folder.dict(&["train", "--lines", "--expect=1G", "rows", "-o", "rows.dict"]).ok();
    folder.dict(&["pack", "make", "-o", "all.pack", "rows.dict"]).ok();
    let pack = Server::of(folder.read("all.pack"));
    let listed = folder.dict(&["pack", "list", "all.pack"]).ok().stdout;
    assert_eq!(folder.dict(&["pack", "list", &pack.url()]).ok().stdout, listed);

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sst/7-xxh3-zstd-trained.sst");
    let sst = Server::of(std::fs::read(path).expect("a stored file"));
    let here = folder.dict(&["sst", "get", path, "user/017"]).ok().stdout;
    assert_eq!(folder.dict(&["sst", "get", &sst.url(), "user/017"]).ok().stdout, here);
    for server in [&blocks, &pack, &sst] {
        folder.dict(&["verify", &server.url()]).ok();
    }
}
