//! What users choose: filters, chunk sizes and corpora.

use linerate_bench::harness::corpus::Corpus;
use linerate_bench::harness::filter::{Chunk, Filter, parse_bytes};

fn filter(text: &str) -> Filter {
    text.parse().unwrap()
}

#[test]
fn a_filter_admits_labels_that_contain_a_part() {
    let f = filter("isa-l 1, LINERATE");
    assert!(f.admits("ISA-L 1 deflate"));
    assert!(f.admits("linerate 2 gzip"));
    assert!(!f.admits("ISA-L 2 deflate"));
}

#[test]
fn an_empty_filter_admits_all() {
    for text in ["", " ", ",", " , "] {
        assert!(filter(text).admits("anything"), "{text:?}");
    }
}

#[test]
fn chunk_sizes_are_read_and_shown() {
    for (text, chunk) in [
        ("1", Chunk::Bytes(1)),
        ("1K", Chunk::Bytes(1024)),
        ("1500", Chunk::Bytes(1500)),
        ("64K", Chunk::Bytes(65_536)),
        ("2M", Chunk::Bytes(2 << 20)),
        ("whole", Chunk::Whole),
    ] {
        assert_eq!(text.parse(), Ok(chunk));
        assert_eq!(chunk.to_string(), text);
    }
    assert_eq!("1024k".parse(), Ok(Chunk::Bytes(1 << 20)));
    for bad in ["", "0", "0K", "K", "-1", "1G", "16 K", "1.5K", "99999999999999999999"] {
        assert!(bad.parse::<Chunk>().is_err(), "{bad}");
    }
    assert!(parse_bytes("18446744073709551615K").unwrap_err().contains("too large"));
}

#[test]
fn a_corpus_is_every_file_below_in_the_order_of_paths() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("texts");
    std::fs::create_dir_all(root.join("b/c")).unwrap();
    for (name, data) in [("z", "last"), ("a", "first"), ("b/c/d", "second"), ("empty", "")] {
        std::fs::write(root.join(name), data).unwrap();
    }
    let corpus = Corpus::read(&root, None).unwrap();
    assert_eq!((&*corpus.name, corpus.bytes()), ("texts", 15));
    assert_eq!(corpus.files, [b"first".to_vec(), b"second".to_vec(), b"last".to_vec()]);

    let cut = Corpus::read(&root, Some(3)).unwrap();
    assert_eq!(cut.files, [b"fir".to_vec(), b"sec".to_vec(), b"las".to_vec()]);

    let one = Corpus::read(&root.join("z"), None).unwrap();
    assert_eq!((&*one.name, one.files), ("z", vec![b"last".to_vec()]));

    assert!(Corpus::read(&root.join("empty"), None).err().unwrap().contains("nothing to compress"));
    assert!(Corpus::read(&root.join("absent"), None).err().unwrap().contains("absent"));
}

#[cfg(unix)]
#[test]
fn links_below_a_corpus_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    std::fs::write(dir.path().join("a/file"), "once").unwrap();
    std::os::unix::fs::symlink("..", dir.path().join("a/cycle")).unwrap();
    std::os::unix::fs::symlink("file", dir.path().join("a/again")).unwrap();
    assert_eq!(Corpus::read(dir.path(), None).unwrap().files, [b"once"]);
}

#[test]
fn random_data_is_the_same_each_time_and_looks_random() {
    let data = Corpus::random(65_536).files.remove(0);
    assert_eq!(data, Corpus::random(65_536).files[0]);
    let mut counts = [0; 256];
    data.iter().for_each(|&b| counts[usize::from(b)] += 1);
    assert!(counts.iter().all(|n| (160..=360).contains(n)), "{counts:?}");
}
