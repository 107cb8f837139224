//! Guests.

use tandem_api::guests::{CreateGuest, DeletedGuest, GuestView, NewGuest};
use tandem_core::AgentId;

use crate::call::Call;
use crate::{Client, Error};

impl Client {
    /// Makes a guest. Its key is in this answer only, so a lost answer is not asked for again.
    pub async fn create_guest(&self, guest: &CreateGuest) -> Result<NewGuest, Error> {
        self.call(&Call::post_once("/a2a/guests").json(guest)).await
    }

    /// The caller's guests, oldest first.
    pub async fn guests(&self) -> Result<Vec<GuestView>, Error> {
        self.call(&Call::get("/a2a/guests")).await
    }

    /// Ends a guest of the caller, with everything that belongs to it.
    pub async fn delete_guest(&self, guest: &AgentId) -> Result<DeletedGuest, Error> {
        self.call(&Call::delete(format!("/a2a/guests/{guest}"))).await
    }
}
