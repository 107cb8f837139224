//! Files.

use tandem_api::files::{DeletedFile, UploadFile, UploadedFile};
use tandem_core::{FileId, TaskId};

use crate::call::Call;
use crate::{Client, Error};

impl Client {
    /// Uploads a small file in one JSON request.
    pub async fn upload_json(&self, task: &TaskId, file: &UploadFile<'_>) -> Result<UploadedFile, Error> {
        self.call(&Call::post(format!("/tasks/{task}/files/json")).json(file)).await
    }

    /// Deletes one of the caller's files.
    pub async fn delete_file(&self, file: &FileId) -> Result<DeletedFile, Error> {
        self.call(&Call::delete(format!("/files/{file}"))).await
    }
}
