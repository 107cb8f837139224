//! What no key vouches for: fields of an encrypted task and of its messages that the signature does not cover, and in which the
//! hub alone could say something in the name of a party. They are left out, however well the rest verifies.
//!
//! Every field has its name here, so that a new one does not get past.

use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;

/// Leaves out of an encrypted task what its initiator or the reader's owner has not signed. Status, reasons, progress and times
/// are the hub's to say, and are shown as such.
#[rustfmt::skip]
pub(super) fn leave_out_of_task(task: &mut TaskView) {
    let TaskView {
        // Opened and verified, or left out by whoever opens the task.
        title: _, description: _, result: _, description_keys: _, sender_signature: _,
        initiator_agent_name: _, target_agent_name: _,
        // Ids, numbers, times and words of closed sets.
        id: _, status: _, next_statuses: _, requires_review: _, priority: _, attempt: _, encrypted: _,
        initiator_agent_id: _, target_agent_id: _, approval_status: _, unread_count: _, ttl_seconds: _, expires_at: _,
        check_in_seconds: _, parent_task_id: _, network_id: _, progress: _, lease_seconds: _, on_stall: _,
        max_attempts: _, max_messages: _, usage_reported: _, delivery: _, acknowledged_at: _, started_at: _,
        completed_at: _, created_at: _, updated_at: _, initiator_session_key: _, target_session_key: _,
        // The hub's to say.
        status_reason: _, progress_note: _,
        approval_note, context_id, message_id, parts, metadata, reference_task_ids, accepted_output_modes,
    } = task;
    (*approval_note, *context_id, *message_id) = (None, None, None);
    (*parts, *metadata, *reference_task_ids, *accepted_output_modes) = (None, None, None, None);
}

/// The same for a message of an encrypted task.
#[rustfmt::skip]
pub(super) fn leave_out_of_message(message: &mut MessageView) {
    let MessageView {
        // Opened and verified, or left out by whoever opens the message.
        content: _, content_type: _, encrypted_keys: _, sender_signature: _, sender_agent_name: _,
        // Ids, times and words of closed sets.
        id: _, task_id: _, in_reply_to: _, sender_agent_id: _, kind: _, read_at: _, acknowledged_at: _, created_at: _,
        message_id, parts, metadata, reference_task_ids, accepted_output_modes, artifact, file,
    } = message;
    (*message_id, *parts, *metadata, *artifact, *file) = (None, None, None, None, None);
    (*reference_task_ids, *accepted_output_modes) = (None, None);
}
