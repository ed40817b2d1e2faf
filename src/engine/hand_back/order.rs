//! Drafts are kept in the order in which they were asked for, though each question has a thread of its own: an older one
//! is not put over a newer one, nor kept of what was written since.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::law::hand_back::tree::TreePath;

/// What was done last of each path, by the number of the question.
#[derive(Debug, Default)]
pub struct Order(Mutex<BTreeMap<(String, TreePath), u64>>);

impl Order {
    /// Does what was asked as the `number`th about a child's path, after what is being done about any; none if
    /// something that was asked later is done already.
    pub fn next<T, E>(
        &self,
        (child, path): (&str, &TreePath),
        number: u64,
        what: impl FnOnce() -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = done.entry((child.to_owned(), path.clone())).or_default();
        if *last > number {
            return None;
        }
        let did = what();
        if did.is_ok() {
            *last = number;
        }
        Some(did)
    }

    /// The same for what a person told to be written: it is done in any case, for what was asked later about the path
    /// keeps choices only, and was told to follow it.
    pub fn anyway<T, E>(
        &self,
        (child, path): (&str, &TreePath),
        number: u64,
        what: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let did = what();
        if did.is_ok() {
            let last = done.entry((child.to_owned(), path.clone())).or_default();
            *last = number.max(*last);
        }
        did
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_question_is_passed_by_and_one_that_failed_holds_nothing_up() {
        let (order, path) = (Order::default(), TreePath::new("a").unwrap());
        let of = ("child", &path);
        assert_eq!(order.next(of, 2, || Err::<(), _>("full")), Some(Err("full")));
        assert_eq!(order.next(of, 1, || Ok::<_, ()>(1)), Some(Ok(1)));
        assert_eq!(order.next(of, 3, || Ok::<_, ()>(3)), Some(Ok(3)));
        assert_eq!(order.next(of, 2, || Ok::<_, ()>(2)), None);
        assert_eq!(order.next(("other", &path), 2, || Ok::<_, ()>(2)), Some(Ok(2)));
    }

    #[test]
    fn what_is_to_be_written_is_written_though_choices_that_were_kept_after_it_came_first() {
        let (order, path) = (Order::default(), TreePath::new("a").unwrap());
        let of = ("child", &path);
        assert_eq!(order.next(of, 8, || Ok::<_, ()>("kept")), Some(Ok("kept")));
        assert_eq!(order.anyway(of, 7, || Ok::<_, ()>("written")), Ok("written"));
        assert_eq!(order.next(of, 7, || Ok::<_, ()>("kept")), None);
        assert_eq!(order.anyway(of, 9, || Ok::<_, ()>("written")), Ok("written"));
        assert_eq!(order.next(of, 8, || Ok::<_, ()>("kept")), None);
    }
}
