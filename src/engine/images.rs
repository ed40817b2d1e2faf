//! Images stand beside the journal: an entry names the blob, a request carries the bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::api::message::Image;
use crate::store::Blobs;

use super::owner::Owner;

impl crate::tool::Blobs for Blobs {
    fn keep(&self, bytes: &[u8]) -> Result<String, String> {
        Blobs::keep(self, bytes).map_err(|e| crate::base::chain(&e))
    }
    fn load(&self, hash: &str) -> Result<Vec<u8>, String> {
        Blobs::load(self, hash).map_err(|e| crate::base::chain(&e))
    }
}

impl Owner {
    /// Puts an image's bytes into the session's blobs.
    pub(super) fn keep_image(&mut self, image: &mut Image) -> Result<(), String> {
        if image.data.is_empty() {
            return if image.blob.is_some() { Ok(()) } else { Err("it is empty".into()) };
        }
        self.store.begin().map_err(|e| crate::base::chain(&e))?;
        let bytes = STANDARD.decode(&image.data).map_err(|e| format!("it is no valid base64: {e}"))?;
        let hash = self.store.blobs().keep(&bytes).map_err(|e| crate::base::chain(&e))?;
        image.blob = Some(hash);
        image.data.clear();
        Ok(())
    }
}

/// Loads an image's bytes for a request. One that is gone stays empty, and the provider is not sent it.
pub(super) fn load(blobs: &Blobs, image: &mut Image) {
    if !image.data.is_empty() {
        return;
    }
    let Some(hash) = &image.blob else { return };
    match blobs.load(hash) {
        Ok(bytes) => image.data = STANDARD.encode(bytes),
        Err(error) => tracing::warn!("an image is gone: {}", crate::base::chain(&error)),
    }
}
