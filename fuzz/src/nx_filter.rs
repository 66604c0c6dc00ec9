//! Texture filters: arbitrary bytes as texels, as filtered texels, and as the header of a file.

use linerate_nx::filter::{Filter, MAX_HEAD, detect, guess};

/// Applies and inverts each filter in both orders, and looks for a header.
///
/// # Panics
/// If a filter and its inverse do not cancel out, or if detection depends on bytes after the header.
pub fn nx_filter(data: &[u8]) {
    let (mut there, mut back) = (vec![0; data.len()], vec![0; data.len()]);
    for filter in Filter::ALL {
        filter.apply(data, &mut there);
        filter.invert(&there, &mut back);
        assert_eq!(back, data, "{}", filter.name());
        filter.invert(data, &mut there);
        filter.apply(&there, &mut back);
        assert_eq!(back, data, "{}: inverse first", filter.name());
    }
    let texture = detect(data);
    assert_eq!(texture, detect(&data[..data.len().min(MAX_HEAD)]));
    if let Some(texture) = texture {
        assert!(texture.start >= 80, "a header is longer");
    }
    let _ = guess(data);
}
