//! The operations of A2A, by their names in JSON-RPC and by their paths in HTTP+JSON.

use axum::http::Method;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    SendMessage,
    SendStreamingMessage,
    GetTask,
    ListTasks,
    CancelTask,
    SubscribeToTask,
    CreatePushConfig,
    GetPushConfig,
    ListPushConfigs,
    DeletePushConfig,
    GetExtendedAgentCard,
}

/// Every operation with its name in JSON-RPC.
const NAMES: [(&str, Operation); 11] = [
    ("SendMessage", Operation::SendMessage),
    ("SendStreamingMessage", Operation::SendStreamingMessage),
    ("GetTask", Operation::GetTask),
    ("ListTasks", Operation::ListTasks),
    ("CancelTask", Operation::CancelTask),
    ("SubscribeToTask", Operation::SubscribeToTask),
    ("CreateTaskPushNotificationConfig", Operation::CreatePushConfig),
    ("GetTaskPushNotificationConfig", Operation::GetPushConfig),
    ("ListTaskPushNotificationConfigs", Operation::ListPushConfigs),
    ("DeleteTaskPushNotificationConfig", Operation::DeletePushConfig),
    ("GetExtendedAgentCard", Operation::GetExtendedAgentCard),
];

impl Operation {
    /// The operation with this name in JSON-RPC.
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, operation)| *operation)
    }
}

/// An operation, and the parameters in its path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Routed {
    pub(super) operation: Operation,
    pub(super) params: Vec<(&'static str, String)>,
}

/// The operation behind a path below an agent's address.
pub(super) fn route(method: &Method, path: &str) -> Option<Routed> {
    use Operation as Op;
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let (get, post) = (*method == Method::GET, *method == Method::POST);
    let routed = |operation, params: &[(&'static str, &str)]| {
        let params = params.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Some(Routed { operation, params })
    };
    match &steps[..] {
        ["message:send"] if post => routed(Op::SendMessage, &[]),
        ["message:stream"] if post => routed(Op::SendStreamingMessage, &[]),
        ["extendedAgentCard"] if get => routed(Op::GetExtendedAgentCard, &[]),
        ["tasks"] if get => routed(Op::ListTasks, &[]),
        ["tasks", task] => match task.split_once(':') {
            None if get => routed(Op::GetTask, &[("id", task)]),
            Some((id, "cancel")) if post => routed(Op::CancelTask, &[("id", id)]),
            Some((id, "subscribe")) if get || post => routed(Op::SubscribeToTask, &[("id", id)]),
            _ => None,
        },
        ["tasks", task, "pushNotificationConfigs"] if post => {
            routed(Op::CreatePushConfig, &[("taskId", task)])
        }
        ["tasks", task, "pushNotificationConfigs"] if get => routed(Op::ListPushConfigs, &[("taskId", task)]),
        ["tasks", task, "pushNotificationConfigs", id] if get => {
            routed(Op::GetPushConfig, &[("taskId", task), ("id", id)])
        }
        ["tasks", task, "pushNotificationConfigs", id] if *method == Method::DELETE => {
            routed(Op::DeletePushConfig, &[("taskId", task), ("id", id)])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, NAMES, Operation, route};

    #[test]
    fn every_operation_has_a_path() {
        let config = "/tasks/t/pushNotificationConfigs";
        let paths = [
            ("POST", "/message:send"),
            ("POST", "//message:stream"),
            ("GET", "/tasks/t"),
            ("GET", "/tasks/"),
            ("POST", "/tasks/t:cancel"),
            ("POST", "/tasks/t:subscribe"),
            ("POST", config),
            ("GET", "/tasks/t/pushNotificationConfigs/p"),
            ("GET", config),
            ("DELETE", "/tasks/t/pushNotificationConfigs/p"),
            ("GET", "/extendedAgentCard"),
        ];
        for ((method, path), (name, operation)) in paths.into_iter().zip(NAMES) {
            let routed = route(&method.parse().unwrap(), path).unwrap();
            assert_eq!(routed.operation, operation, "{name}");
            assert_eq!(Operation::named(name), Some(operation));
            assert!(
                routed.params.iter().all(|(name, value)| ["t", "p"].contains(&&**value) || name.is_empty())
            );
        }
        assert_eq!(route(&Method::GET, "/tasks/t:subscribe").unwrap().operation, Operation::SubscribeToTask);
    }

    #[test]
    fn anything_else_has_none() {
        for (method, path) in [
            ("GET", "/message:send"),
            ("POST", "/tasks"),
            ("POST", "/tasks/t"),
            ("GET", "/tasks/t:cancel"),
            ("POST", "/tasks/t:run"),
            ("DELETE", "/tasks/t"),
            ("DELETE", "/tasks/t/pushNotificationConfigs"),
            ("GET", "/tasks/t/other"),
            ("GET", "/"),
        ] {
            assert_eq!(route(&method.parse().unwrap(), path), None, "{method} {path}");
        }
        assert_eq!(Operation::named("message/send"), None);
    }
}
