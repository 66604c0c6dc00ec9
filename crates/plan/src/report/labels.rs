//! Places labels beside points, so that no label covers another label, a point or other text. A
//! label covers a line only if it fits nowhere else.

/// Assumed width of a character in pixels, at the charts' font size of 12 pixels.
const CHAR_WIDTH: f64 = 6.5;
/// Height of a label in pixels.
const HEIGHT: f64 = 14.0;
/// Distances of a label from its point, in pixels, in the order in which they are tried.
const DISTANCES: [f64; 3] = [9.0, 16.0, 26.0];
/// Directions from a point to its label, in the order in which they are tried: right, left, above,
/// below, then the diagonals.
const DIRECTIONS: [(f64, f64); 8] =
    [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (0.8, -0.8), (-0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)];

/// A rectangle by its sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    /// Returns the square around a point, with sides of twice the `radius`.
    pub(super) fn around(x: f64, y: f64, radius: f64) -> Self {
        Self { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// Where the text of a label is drawn, and where the line from its point ends, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// Horizontal position of the text's beginning, middle or end, as `anchor` says.
    pub(super) x: f64,
    /// Vertical position of the text's baseline.
    pub(super) y: f64,
    /// The attribute `text-anchor` of SVG.
    pub(super) anchor: &'static str,
    /// End of the line from the point to the label. `None` for a label near its point.
    pub(super) leader: Option<(f64, f64)>,
}

/// The area of a chart in which labels are placed, and the parts that they must not, or should not,
/// cover.
#[derive(Debug)]
pub(super) struct Places {
    inside: Rect,
    taken: Vec<Rect>,
    /// Lines that a label covers only if it fits nowhere else.
    lines: Vec<Rect>,
}

impl Places {
    pub(super) fn new(inside: Rect) -> Self {
        Self { inside, taken: Vec::new(), lines: Vec::new() }
    }

    pub(super) fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    pub(super) fn avoid(&mut self, rect: Rect) {
        self.lines.push(rect);
    }

    /// Finds a free place for the text beside the point, and takes the place. `None` if no place is
    /// free.
    pub(super) fn place(&mut self, x: f64, y: f64, text: &str) -> Option<Placed> {
        let places =
            || DISTANCES.iter().flat_map(|d| DIRECTIONS.iter().map(move |(dx, dy)| (dx * d, dy * d)));
        for over_lines in [false, true] {
            for (dx, dy) in places() {
                let (placed, rect) = beside(x + dx, y + dy, dx, dy, width(text));
                let is_free =
                    self.inside.contains(&rect) && !self.taken.iter().any(|taken| taken.overlaps(&rect));
                if is_free && (over_lines || !self.lines.iter().any(|line| line.overlaps(&rect))) {
                    self.taken.push(rect);
                    return Some(placed);
                }
            }
        }
        None
    }
}

/// Estimates the width of a text in pixels. For usual text it is rather too large than too small.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHAR_WIDTH
}

/// Returns the place of a label of this width whose side or corner nearest to its point is at
/// (x, y), and the area that it covers. (dx, dy) is the distance of (x, y) from the point.
fn beside(x: f64, y: f64, dx: f64, dy: f64, width: f64) -> (Placed, Rect) {
    let (left, anchor) = match dx {
        dx if dx > 0.0 => (x, "start"),
        dx if dx < 0.0 => (x - width, "end"),
        _ => (x - width / 2.0, "middle"),
    };
    let top = match dy {
        dy if dy > 0.0 => y,
        dy if dy < 0.0 => y - HEIGHT,
        _ => y - HEIGHT / 2.0,
    };
    let near = dx.hypot(dy) < DISTANCES[1];
    // The baseline is 3.5 pixels above the bottom, which leaves room for descenders.
    let placed = Placed { x, y: top + HEIGHT - 3.5, anchor, leader: (!near).then_some((x, y)) };
    (placed, Rect { left, top, right: left + width, bottom: top + HEIGHT })
}

/// Moves positions, which are in ascending order, so that neighbours are at least `gap` apart, and
/// within `low..=high` if they fit.
pub(super) fn spread_out(positions: &mut [f64], gap: f64, low: f64, high: f64) {
    let mut next = low;
    for position in positions.iter_mut() {
        *position = position.max(next);
        next = *position + gap;
    }
    let mut last = high;
    for position in positions.iter_mut().rev() {
        *position = position.min(last);
        last = *position - gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: Rect = Rect { left: 0.0, top: 0.0, right: 400.0, bottom: 200.0 };

    #[test]
    fn labels_of_crowded_points_do_not_overlap() {
        let mut places = Places::new(INSIDE);
        let points: Vec<(f64, f64)> = (0..12).map(|i| (200.0 + f64::from(i) * 3.0, 100.0)).collect();
        points.iter().for_each(|(x, y)| places.take(Rect::around(*x, *y, 5.0)));
        let placed = points.iter().filter(|(x, y)| places.place(*x, *y, "zstd 19").is_some()).count();
        assert!(placed >= 4, "only {placed}");
        for (i, a) in places.taken.iter().enumerate().skip(12) {
            assert!(INSIDE.contains(a));
            assert!(!places.taken[..i].iter().any(|b| a.overlaps(b)), "{a:?}");
        }
    }

    #[test]
    fn label_that_fits_nowhere_is_left_out() {
        let mut places = Places::new(INSIDE);
        assert_eq!(places.place(200.0, 100.0, &"x".repeat(100)), None);
    }

    #[test]
    fn line_is_covered_only_if_no_other_place_is_free() {
        let mut places = Places::new(INSIDE);
        places.avoid(Rect { left: 205.0, top: 0.0, right: 400.0, bottom: 200.0 });
        assert_eq!(places.place(200.0, 100.0, "zstd").map(|placed| placed.anchor), Some("end"));
        places.avoid(INSIDE);
        assert!(places.place(100.0, 50.0, "zstd").is_some());
    }

    #[test]
    fn positions_are_spread_within_bounds() {
        let mut positions = [10.0, 11.0, 12.0, 99.0];
        spread_out(&mut positions, 14.0, 0.0, 100.0);
        assert_eq!(positions, [10.0, 24.0, 38.0, 99.0]);
        let mut at_the_end = [98.0, 99.0];
        spread_out(&mut at_the_end, 14.0, 0.0, 100.0);
        assert_eq!(at_the_end, [86.0, 100.0]);
    }
}
