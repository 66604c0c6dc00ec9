//! Labels that do not lie on each other.

/// Height of a label's box in pixels.
const HEIGHT: i32 = 15;
const GAP: i32 = 8;

/// Where a label goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The point that it names.
    pub(crate) point: (i32, i32),
    /// The upper left corner of its box.
    pub(crate) corner: (i32, i32),
    /// The width of its box.
    pub(crate) width: i32,
    /// Whether it is left of its point.
    pub(crate) left: bool,
    /// Whether it is so far away that a line should lead to it.
    pub(crate) far: bool,
}

impl Spot {
    /// The middle of the box's edge that is nearer to the point: where a line to it ends, and where
    /// text that is left of it is aligned.
    pub(crate) fn near_end(&self) -> (i32, i32) {
        let x = if self.left { self.corner.0 + self.width } else { self.corner.0 };
        (x, self.corner.1 + HEIGHT / 2)
    }
}

/// A box: left, top, right, bottom.
type Area = (i32, i32, i32, i32);

/// Chooses a spot for each label: right or left of its point, otherwise as near as possible.
/// Labels lie neither on each other nor on points, unless the picture is full.
pub(crate) fn place(points: &[(i32, i32)], widths: &[i32], size: (i32, i32)) -> Vec<Spot> {
    let mut taken: Vec<Area> = points.iter().map(|&(x, y)| (x - 4, y - 4, x + 5, y + 5)).collect();
    let mut spots = Vec::with_capacity(points.len());
    for (&point, &width) in points.iter().zip(widths) {
        let all: Vec<_> = candidates(point, width).collect();
        let free = |s: &&Spot| {
            let area = area(s);
            let inside = area.0 >= 0 && area.1 >= 0 && area.2 <= size.0 && area.3 <= size.1;
            inside && !taken.iter().any(|t| overlap(*t, area))
        };
        let spot = *all.iter().find(free).unwrap_or(&all[0]);
        taken.push(area(&spot));
        spots.push(spot);
    }
    spots
}

/// Spots to try, nearest first.
fn candidates(point: (i32, i32), width: i32) -> impl Iterator<Item = Spot> {
    (0..24).flat_map(move |step: i32| {
        let distance = (step + 1) / 2 * HEIGHT * (if step % 2 == 0 { 1 } else { -1 });
        let far = step > 2;
        let shift = if far { 3 * GAP } else { GAP };
        [point.0 + shift, point.0 - shift - width].map(|x| {
            let corner = (x, point.1 + distance - HEIGHT / 2);
            Spot { point, corner, width, left: x < point.0, far }
        })
    })
}

fn area(spot: &Spot) -> Area {
    let (x, y) = spot.corner;
    (x, y, x + spot.width, y + HEIGHT)
}

fn overlap(a: Area, b: Area) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_label_is_right_of_its_point() {
        let spots = place(&[(100, 50)], &[40], (400, 300));
        assert_eq!(spots, [Spot { point: (100, 50), corner: (108, 43), width: 40, left: false, far: false }]);
    }

    #[test]
    fn at_the_right_edge_it_is_on_the_left() {
        let spot = place(&[(390, 50)], &[40], (400, 300))[0];
        assert_eq!((spot.corner, spot.left), ((342, 43), true));
        assert_eq!(spot.near_end(), (382, 50));
    }

    #[test]
    fn crowded_labels_lie_neither_on_each_other_nor_on_points() {
        let points: Vec<_> = (0..9).map(|i| (200 + 3 * (i % 3), 150 + 2 * i)).collect();
        let widths = [60; 9];
        let spots = place(&points, &widths, (500, 400));
        let areas: Vec<_> = spots.iter().map(area).collect();
        for (i, a) in areas.iter().enumerate() {
            assert!(areas[..i].iter().all(|b| !overlap(*a, *b)), "{spots:?}");
            assert!(points.iter().all(|p| !overlap(*a, (p.0, p.1, p.0 + 1, p.1 + 1))), "{spots:?}");
        }
    }
}
