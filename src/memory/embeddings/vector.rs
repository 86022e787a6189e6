//! A vector as it is kept: a scale, and a signed byte a dimension.

/// Most dimensions of a vector: the largest models have fewer.
const MOST_DIMENSIONS: usize = 8_192;
/// What the longest side becomes.
const LARGEST: f32 = 127.0;

/// A meaning: one signed byte a dimension, of length 1 once it is scaled.
///
/// Rounding to a byte moves a cosine by less than 0.01 at the sizes that models have.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    scale: f32,
    sides: Vec<i8>,
}

impl Vector {
    /// Keeps a vector of any length; `None` for what has no direction (zeros, no number, nothing)
    /// or too many dimensions.
    pub fn of(values: &[f32]) -> Option<Self> {
        let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        if values.len() > MOST_DIMENSIONS || !length.is_normal() {
            return None;
        }
        let longest = values.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
        let sides = values
            .iter()
            .map(|v| (v / longest * LARGEST).round() as i8)
            .collect();
        let mut vector = Self { scale: 1.0, sides };
        let length: f32 = vector
            .sides
            .iter()
            .map(|side| f32::from(*side).powi(2))
            .sum();
        vector.scale = 1.0 / length.sqrt();
        Some(vector)
    }

    /// As it is stored: the scale in little endian, then the sides.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.scale.to_le_bytes().to_vec();
        bytes.extend(self.sides.iter().map(|side| side.to_le_bytes()[0]));
        bytes
    }

    /// Reads what was stored; `None` where it is not that.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, sides) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        if !scale.is_normal() || sides.is_empty() || sides.len() > MOST_DIMENSIONS {
            return None;
        }
        Some(Self {
            scale,
            sides: sides
                .iter()
                .map(|side| i8::from_le_bytes([*side]))
                .collect(),
        })
    }

    /// How alike two meanings are: -1 to 1, and 0 where they have not the same dimensions.
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.sides.len() != other.sides.len() {
            return 0.0;
        }
        let dot: i32 = self
            .sides
            .iter()
            .zip(&other.sides)
            .map(|(one, other)| i32::from(*one) * i32::from(*other))
            .sum();
        (f64::from(dot) * f64::from(self.scale) * f64::from(other.scale)).clamp(-1.0, 1.0)
    }

    /// One bit a dimension: whether its side is positive.
    pub(super) fn signs(&self) -> Vec<u64> {
        self.sides
            .chunks(64)
            .map(|sides| {
                sides.iter().enumerate().fold(0, |bits, (place, side)| {
                    bits | (u64::from(*side > 0) << place)
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_direction_is_no_vector() {
        for values in [
            &[][..],
            &[0.0, 0.0],
            &[f32::NAN, 1.0],
            &[f32::INFINITY, 1.0],
            &[1e30, 1e30],
        ] {
            assert_eq!(Vector::of(values), None, "{values:?}");
        }
        assert_eq!(Vector::of(&vec![1.0; MOST_DIMENSIONS + 1]), None);
        for bytes in [&[][..], &[0; 4], &[0, 0, 0, 0, 1], &[0, 0, 0xc0, 0x7f, 1]] {
            assert_eq!(Vector::from_bytes(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn likeness() {
        for (one, other, expected) in [
            (&[1.0, 0.0][..], &[1.0, 0.0][..], 1.0),
            (&[3.0, 0.0], &[0.0, 0.1], 0.0),
            (&[1.0, 1.0], &[-1.0, -1.0], -1.0),
            (&[1.0, 1.0], &[1.0, 0.0], 0.5_f64.sqrt()),
            (&[1.0, 1.0, 1.0], &[1.0, 1.0], 0.0),
        ] {
            let of = |values| Vector::of(values).expect("a direction");
            let cosine = of(one).cosine(&of(other));
            assert!(
                (cosine - expected).abs() < 0.005,
                "{one:?} {other:?} {cosine}"
            );
        }
    }

    proptest! {
        #[test]
        fn bytes_and_back(values in proptest::collection::vec(-1.0_f32..1.0, 1..300)) {
            if let Some(vector) = Vector::of(&values) {
                prop_assert_eq!(Vector::from_bytes(&vector.to_bytes()), Some(vector.clone()));
                prop_assert!((vector.cosine(&vector) - 1.0).abs() < 1e-5);
                prop_assert_eq!(vector.signs().len(), values.len().div_ceil(64));
            }
        }

        #[test]
        fn rounding_moves_a_cosine_little(
            pairs in proptest::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 64..512)
        ) {
            let (one, other): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let exact = {
                let dot: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
                let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
                f64::from(dot / length(&one) / length(&other))
            };
            let (Some(one), Some(other)) = (Vector::of(&one), Vector::of(&other)) else {
                return Ok(());
            };
            prop_assert!((one.cosine(&other) - exact).abs() < 0.01);
        }
    }
}
