//! Tasks, approvals and the inbox.

use tandem_api::inbox::InboxView;
use tandem_api::tasks::{
    ApproveTask, CreateTask, DeletedTask, Heartbeat, PageQuery, PatchTask, ReassignTask, RepliedView,
    ReplyTask, ReportUsage, RetryTask, TaskLogView, TaskView, TasksQuery, TreeView, UsageView, WithReason,
};
use tandem_core::TaskId;

use crate::call::Call;
use crate::{Client, Error, Page};

impl Client {
    /// Creates a task for another agent.
    pub async fn create_task(&self, task: &CreateTask) -> Result<TaskView, Error> {
        self.call(&Call::post("/tasks").json(task)).await
    }

    /// The caller's tasks, newest first.
    pub async fn tasks(&self, query: &TasksQuery) -> Result<Page<TaskView>, Error> {
        self.page(&Call::get("/tasks").query(query)).await
    }

    /// One task.
    pub async fn task(&self, task: &TaskId) -> Result<TaskView, Error> {
        self.about(task, &Call::get(format!("/tasks/{task}"))).await
    }

    /// A call about a task, whose answer is that task.
    async fn about(&self, task: &TaskId, call: &Call) -> Result<TaskView, Error> {
        let view: TaskView = self.call(call).await?;
        self.check_id(task, &view)?;
        Ok(view)
    }

    /// Refuses another task than the named one: what is meant for an encrypted task could go to a plain one.
    pub(crate) fn check_id(&self, named: &TaskId, view: &TaskView) -> Result<(), Error> {
        if view.id == *named {
            return Ok(());
        }
        let detail = format!("instead of {named} it presents the task {}", view.id);
        Err(Error::NotAHub { hub: self.hub().to_string(), detail })
    }

    /// Changes a task: its status, the caller's session key, or a draft.
    pub async fn change_task(&self, task: &TaskId, change: &PatchTask) -> Result<TaskView, Error> {
        self.about(task, &Call::patch(format!("/tasks/{task}")).json(change)).await
    }

    /// Deletes a task that has ended, with its messages and files.
    pub async fn delete_task(&self, task: &TaskId) -> Result<DeletedTask, Error> {
        self.call(&Call::delete(format!("/tasks/{task}"))).await
    }

    /// Cancels a live task.
    pub async fn cancel_task(&self, task: &TaskId, with: &WithReason) -> Result<TaskView, Error> {
        self.about(task, &Call::post(format!("/tasks/{task}/cancel")).json(with)).await
    }

    /// Starts a task again that failed, expired or was cancelled.
    pub async fn retry_task(&self, task: &TaskId, with: &RetryTask) -> Result<TaskView, Error> {
        self.about(task, &Call::post(format!("/tasks/{task}/retry")).json(with)).await
    }

    /// Gives a live task to another agent.
    pub async fn reassign_task(&self, task: &TaskId, to: &ReassignTask) -> Result<TaskView, Error> {
        self.about(task, &Call::post(format!("/tasks/{task}/reassign")).json(to)).await
    }

    /// Delivers the result, as the target.
    pub async fn reply(&self, task: &TaskId, reply: &ReplyTask) -> Result<RepliedView, Error> {
        let view: RepliedView = self.call(&Call::post(format!("/tasks/{task}/reply")).json(reply)).await?;
        self.check_id(task, &view.task)?;
        Ok(view)
    }

    /// Reports that the work goes on, and its progress.
    pub async fn heartbeat(&self, task: &TaskId, heartbeat: &Heartbeat) -> Result<TaskView, Error> {
        self.about(task, &Call::post(format!("/tasks/{task}/heartbeat")).json(heartbeat)).await
    }

    /// Reports the costs of the work, as the target.
    pub async fn report_usage(&self, task: &TaskId, usage: &ReportUsage) -> Result<UsageView, Error> {
        self.call(&Call::post(format!("/tasks/{task}/usage")).json(usage)).await
    }

    /// The status changes of a task, oldest first.
    pub async fn task_log(&self, task: &TaskId, query: &PageQuery) -> Result<Page<TaskLogView>, Error> {
        self.page(&Call::get(format!("/tasks/{task}/events")).query(query)).await
    }

    /// A task with its subtasks.
    pub async fn task_tree(&self, task: &TaskId) -> Result<TreeView, Error> {
        self.call(&Call::get(format!("/tasks/{task}/tree"))).await
    }

    /// The tasks that wait for the caller's approval.
    pub async fn approvals(&self, query: &PageQuery) -> Result<Page<TaskView>, Error> {
        self.page(&Call::get("/approvals").query(query)).await
    }

    /// Lets a task in.
    pub async fn approve(&self, task: &TaskId, with: &ApproveTask) -> Result<TaskView, Error> {
        self.about(task, &Call::post(format!("/approvals/{task}/approve")).json(with)).await
    }

    /// Refuses a task.
    pub async fn reject(&self, task: &TaskId, with: &WithReason) -> Result<TaskView, Error> {
        self.about(task, &Call::post(format!("/approvals/{task}/reject")).json(with)).await
    }

    /// What waits for the caller, most urgent first.
    pub async fn inbox(&self, query: &PageQuery) -> Result<InboxView, Error> {
        self.call(&Call::get("/inbox").query(query)).await
    }
}
