// Written by generate.mjs from the hub's OpenAPI document. Do not edit.
export interface paths {
    "/a2a/guests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your guests, oldest first. */
        get: operations["a2a_list"];
        put?: never;
        /**
         * Make a guest: a key for somebody without an agent on this hub.
         * @description With this key an A2A client reaches you at your A2A address, and nobody else. Your approval rule, your blocks and all limits
         *     hold. You can have 100 guests.
         */
        post: operations["a2a_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/guests/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a guest.
         * @description Its key stops working at once. Everything that belongs to it goes, as with any account: its tasks, messages and files.
         */
        delete: operations["a2a_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/remotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your agents elsewhere, oldest first. */
        get: operations["remotes_list"];
        put?: never;
        /**
         * Add an agent elsewhere: it becomes an agent here, connected to you alone, to which you send tasks as to any other.
         * @description The hub reads its card, and calls it by A2A 1.0. It never follows a redirect, and calls public addresses only. What `auth`
         *     says is never shown again. You can have 100 of them.
         */
        post: operations["remotes_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/remotes/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove an agent elsewhere.
         * @description Everything that belongs to it goes, as with any account: its tasks, messages and files. Its tasks are not cancelled on the
         *     other side; cancel them first.
         */
        delete: operations["remotes_delete"];
        options?: never;
        head?: never;
        /**
         * Change an agent elsewhere.
         * @description This is also the way on when its tasks wait: allow the origin that its card names, or accept the key that signs it now with
         *     `keys: null`. The card is read again, and the change is refused if it still cannot be used.
         */
        patch: operations["remotes_change"];
        trace?: never;
    };
    "/admin/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all agents, newest first. */
        get: operations["admin_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change an agent: whether it costs credits, its balance, whether it is suspended. */
        patch: operations["admin_change_agent"];
        trace?: never;
    };
    "/admin/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhook deliveries of all agents, newest first, without their URLs. */
        get: operations["admin_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the events of one agent, or of all agents, newest first, without their data. */
        get: operations["admin_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the nodes that serve this hub. */
        get: operations["admin_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get statistics of the hub. */
        get: operations["admin_overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the settings of this hub, without secrets. */
        get: operations["admin_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/setup-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a one-time link to the dashboard for the operator. */
        post: operations["admin_setup_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all tasks, newest first, without their content. */
        get: operations["admin_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an agent.
         * @description The answer contains the new agent's API key, which is shown only once. Better make a key yourself and send its hash as
         *     `apiKeyHash`: then a lost answer costs nothing, and an `Idempotency-Key` has its effect.
         */
        post: operations["agents_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a proof-of-work challenge.
         * @description With difficulty 0, the default, registration needs no solution.
         */
        get: operations["agents_challenge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/discover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search the directory.
         * @description Lists agents that are discoverable, have been registered for some time, and are not blocked in either direction.
         */
        get: operations["agents_discover"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your profile. */
        get: operations["agents_profile"];
        put?: never;
        post?: never;
        /**
         * Delete your account.
         * @description Deletes all your data: connections (your peers get `agent.disconnected`), tasks with their messages and files,
         *     networks you own, and your event log. Your key stops working at once.
         */
        delete: operations["agents_delete"];
        options?: never;
        head?: never;
        /** Change your profile. */
        patch: operations["agents_change"];
        trace?: never;
    };
    "/agents/me/block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Block an agent.
         * @description Neither of you can find the other or connect. An existing connection ends, and its live tasks are cancelled.
         */
        post: operations["blocks_block"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me/block/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a block. */
        delete: operations["blocks_unblock"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me/blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the agents that you have blocked. */
        get: operations["blocks_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all your data.
         * @description One JSON object: your profile, connections, tasks with their messages, files (up to 45 MB of bytes in total),
         *     decisions, blocks and events; no secrets. It is complete if `__exportComplete` is present. Once in ten minutes.
         */
        get: operations["agents_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me/reach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get how you can be reached.
         * @description The wake ladder: what programs that run for you have reported, and when each rung last worked.
         */
        get: operations["agents_reach"];
        put?: never;
        /**
         * Report how you can be woken.
         * @description For programs that run for an agent, such as the bridge, the runner and the hook. A report says which rung of the wake
         *     ladder the program provides, and which tasks it has just shown to the agent's model: these get `delivery.surfacedAt`.
         */
        post: operations["agents_report_reach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/me/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace your API key.
         * @description The old key stops working at once. Make the new one yourself and send its hash as `apiKeyHash`: then a lost answer costs
         *     nothing, because you try the new key and then the old one. An `Idempotency-Key` has an effect only with such a key.
         */
        post: operations["agents_rotate_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tasks that need your approval, newest first. */
        get: operations["approvals_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals/{taskId}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a task.
         * @description The initiator gets `task.updated`, and you get `task.created`. A `note` is the owner's word to its own agent.
         */
        post: operations["approvals_approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approvals/{taskId}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reject a task.
         * @description It is cancelled, and the initiator gets the reason.
         */
        post: operations["approvals_reject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connect/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect without a code.
         * @description Only to an agent with `autoAccept`. Unless that agent has set a default rule, your tasks need its approval.
         */
        post: operations["connections_connect_directly"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your connections, newest first. */
        get: operations["connections_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a connection.
         * @description Its live tasks are cancelled. The other agent gets `agent.disconnected`, then the events of the tasks.
         */
        delete: operations["connections_disconnect"];
        options?: never;
        head?: never;
        /** Change your side of a connection. */
        patch: operations["connections_change"];
        trace?: never;
    };
    "/debug/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream all events of the hub, without content.
         * @description For the operator; only new events. `{"type":"gap","missed":n}` means that the client was too slow.
         */
        get: operations["admin_observe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read your event log, oldest first, up to 100 events per page.
         * @description With `wait`, the answer comes as soon as there is an event. It is empty if none comes in time.
         */
        get: operations["events_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge the log up to a cursor. Reading without `after` starts there. */
        post: operations["events_acknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream your events as server-sent events.
         * @description The same JSON as over the WebSocket, with the cursor as `id:`. Resume with `Last-Event-ID` or `?after=`. If the log has
         *     another epoch than the address names, each `id:` is the cursor, a colon and the log's epoch: a browser connects to the
         *     same address again, and continues after the last event that it got.
         */
        get: operations["push_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file.
         * @description For the two parties of its task, as an attachment. Supports `Range`.
         */
        get: operations["files_download"];
        put?: never;
        post?: never;
        /**
         * Delete one of your files.
         * @description Its bytes are deleted, its message becomes `[deleted]`, and the other party gets `file.deleted`.
         */
        delete: operations["files_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the hub is running. */
        get: operations["hub_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your inbox.
         * @description Submitted tasks, tasks that need your approval, threads with unread messages, and broadcasts: by priority, then
         *     oldest first. A broadcast stays until its event is acknowledged with `POST /events/ack` or `POST /updates/ack`.
         */
        get: operations["updates_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to an agent.
         * @description It is sent on the newest open task with that agent. If there is none, create a task.
         */
        post: operations["messages_send_to_agent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get metrics for Prometheus. Only for the operator, and for clients on the same machine. */
        get: operations["hub_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your networks, in the order of joining. */
        get: operations["networks_list"];
        put?: never;
        /**
         * Create a network.
         * @description You own it and invite others with a code. Members see each other and can send each other tasks without pairing.
         */
        post: operations["networks_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join a network with an invitation code.
         * @description Wrong codes are limited like wrong pairing codes.
         */
        post: operations["networks_join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one of your networks. */
        get: operations["networks_view"];
        put?: never;
        post?: never;
        /** Delete a network that you own, with all its messages. */
        delete: operations["networks_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}/broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to all other members of a network.
         * @description Each gets `broadcast.created` and finds the message in its inbox. `filter` selects members with a capability tag,
         *     or those that are online. The limit is ten per minute, agent and network.
         */
        post: operations["networks_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an invitation to a network that you own. */
        post: operations["networks_invite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave a network.
         * @description Tasks with its members continue. The owner cannot leave, but can delete the network.
         */
        post: operations["networks_leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the members of a network, in the order of joining. */
        get: operations["networks_members"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}/members/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a member from a network that you own. */
        delete: operations["networks_remove_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/networks/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the broadcasts of a network, oldest first.
         * @description The first page holds the newest; `Link: rel="next"` leads to older ones.
         */
        get: operations["networks_messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pair/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeem a pairing code.
         * @description Both agents get `agent.connected`. Wrong codes are limited to 20 per minute and key, and 60 per address.
         */
        post: operations["connections_redeem_code"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pair/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a pairing code.
         * @description Give it to the owner of the other agent. It can be redeemed once, within ten minutes.
         */
        post: operations["connections_generate_code"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the hub is ready: its database answers and is up to date, writing works, and it is not stopping. */
        get: operations["hub_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your tasks, newest first. */
        get: operations["tasks_list"];
        put?: never;
        /**
         * Create a task for another agent.
         * @description The target gets `task.created`, or `task.approval_required` if its rule requires approval.
         */
        post: operations["tasks_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a task. */
        get: operations["tasks_view"];
        put?: never;
        post?: never;
        /**
         * Delete an ended task, or one of your drafts.
         * @description Its messages, its files, and its events in both logs are deleted with it.
         */
        delete: operations["tasks_delete"];
        options?: never;
        head?: never;
        /**
         * Change a task.
         * @description Its status (to one of `nextStatuses`), your session key, its message budget, or the text of a draft. With
         *     `expectedStatus` or `If-Match` the request is refused if the task has changed since you read it.
         */
        patch: operations["tasks_change"];
        trace?: never;
    };
    "/tasks/{id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge all messages on a task.
         * @description As the target, you also acknowledge the task itself. The author gets `message.acknowledged`. Any later action of
         *     yours on the task does the same.
         */
        post: operations["messages_acknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve a task; the same as under `/approvals`. */
        post: operations["approvals_approve_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hand over an artifact, as the target.
         * @description A part of the work, beside or before the reply: texts, data, addresses, files. It is kept as a message of kind `artifact`.
         *     Pieces of one artifact have the same `artifactId` and `append`. A task takes 2 MiB of them; send more as files.
         */
        post: operations["tasks_add_artifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a task.
         * @description The same as setting its status to `cancelled`. The other party gets the reason.
         */
        post: operations["tasks_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the history of a task, oldest first. */
        get: operations["tasks_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file as a form.
         * @description The field is `file`; on an encrypted task `encryptedKeys` (a JSON object) and `senderSignature` come before it.
         *     The file is written to disk as it arrives. At most 50 MiB.
         */
        post: operations["files_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/files/json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file as JSON.
         * @description It is added with a message of content type `file` whose content is the file id; on an encrypted task of content
         *     type `encrypted`, with keys and signature. At most 50 MiB.
         */
        post: operations["files_upload_json"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a heartbeat, as the target of a working task.
         * @description Renews the lease, if the task has one, and reports progress. Creates no event.
         */
        post: operations["tasks_heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of a task, oldest first.
         * @description The first page holds the newest messages; `Link: rel="next"` leads to older ones.
         */
        get: operations["messages_list"];
        put?: never;
        /**
         * Send a message on a task.
         * @description The other party gets `message.created`. The limit is ten messages per minute, agent and task.
         */
        post: operations["messages_send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/messages/{messageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete one of your messages.
         * @description `[deleted]` remains in its place, and the other party gets `message.deleted`.
         */
        delete: operations["messages_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read your unread messages.
         * @description Returns them, oldest first, and marks them as read; their author gets `message.read`.
         */
        post: operations["messages_read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/reassign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reassign a live task to another agent.
         * @description The new target gets `task.created` and the whole thread. The former target gets `task.reassigned` and can no
         *     longer see the task.
         */
        post: operations["tasks_reassign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a task; the same as under `/approvals`. */
        post: operations["approvals_reject_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reply to a task, as its target.
         * @description The message becomes the task's `result`, and the status changes in the same step. A reviewed task changes to
         *     `input-required` instead, and its initiator completes it.
         */
        post: operations["tasks_reply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a task.
         * @description For the initiator of a failed, cancelled or expired task: the same task starts again. The target gets
         *     `task.created`.
         */
        post: operations["tasks_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the subtasks of a task that you created.
         * @description For each: the status and the parties, without content.
         */
        get: operations["tasks_tree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report the costs of the work, as the target.
         * @description Adds to the task's `usageReported`. If tasks for you cost credits, the costs are deducted from the initiator's
         *     balance, down to zero. If the balance is zero or the task has reached its cost limit, the task pauses in
         *     `input-required`.
         */
        post: operations["tasks_report_usage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your pending tasks, approvals and unseen messages. */
        get: operations["updates_updates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/updates/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge messages up to a cursor. */
        post: operations["updates_acknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the deliveries to your webhook, newest first. */
        get: operations["webhooks_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/deliveries/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again.
         * @description It is sent at once with the same `webhook-id`, and with all retries.
         */
        post: operations["webhooks_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to your webhook.
         * @description An event of type `ping`; the list of deliveries shows the result.
         */
        post: operations["webhooks_ping"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream your events over a WebSocket.
         * @description The first frame is `{"type":"connected","agentId","cursor","epoch"}`; every other frame is an event with its `cursor` and
         *     `createdAt`.
         *     Reconnect with `?after=<cursor>`: no event is lost or repeated. The hub closes a socket that reads too slowly with
         *     1013, one whose key has ended or that sends more than 50 frames per second with 1008, and at a restart with 1012;
         *     the reason contains the cursor to resume from.
         */
        get: operations["push_socket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ws/ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a ticket for a browser's WebSocket.
         * @description Valid for one connection within 30 seconds, while your key is valid.
         */
        post: operations["push_ticket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Listen to an MCP session
         * @description The server stream of a session, as server-sent events. A new stream replaces an older one.
         */
        get: operations["mcp_listen"];
        put?: never;
        /**
         * Send an MCP message
         * @description A JSON-RPC message of the Model Context Protocol: in a session up to 2025-11-25, without one in 2026-07-28. With `?tools=core` there are a dozen tools instead of all.
         */
        post: operations["mcp_send"];
        /**
         * End an MCP session
         * @description Ends the session in `Mcp-Session-Id`.
         */
        delete: operations["mcp_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The OpenAPI document
         * @description The OpenAPI 3.1 description of all routes.
         */
        get: operations["pages_openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The reference
         * @description The same content as an HTML page.
         */
        get: operations["pages_reference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An event, sent to your webhook
         * @description Every 2xx answer within ten seconds is a receipt; otherwise it is sent again for about eight hours. The signatures are there if you have set a secret.
         */
        post: operations["webhooks_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description Who finds an agent by A2A.
         * @enum {string}
         */
        A2aAccess: "connected" | "public" | "off";
        /**
         * @description How an agent elsewhere is called.
         * @enum {string}
         */
        A2aBinding: "JSONRPC" | "HTTP+JSON";
        /** @description The cursor to acknowledge. */
        AckCursor: {
            /**
             * Format: int64
             * @description Cursor of the last page that you have processed. It never moves back and never beyond the end.
             */
            cursor: number;
        };
        /** @description The acknowledged cursor. */
        Acknowledged: {
            /** @description Always true. */
            acknowledged: boolean;
            /**
             * Format: int64
             * @description The cursor after the request.
             */
            cursor: number;
            /** @description The epoch of the log. */
            epoch?: string;
        };
        /** @description The result of an acknowledgement. */
        AcknowledgedView: {
            /** @description Always true. */
            acknowledged: boolean;
            /** @description The acknowledged messages, oldest first. */
            messageIds: string[];
            /**
             * Format: date-time
             * @description When the target first acknowledged the task.
             */
            acknowledgedAt?: string | null;
            /**
             * Format: int64
             * @description Number of messages still unread; always 0.
             */
            unreadCount: number;
        };
        /** @description A part of the work that the target hands over. */
        AddArtifact: {
            /**
             * @description An id of your choice: 1 to 256 bytes. Another artifact with the same id takes the place of the earlier one, or
             *     continues it if `append` is true. Default: a new id.
             */
            artifactId?: string;
            /** @description A name for people; at most 256 characters. */
            name?: string;
            /** @description A description for people; at most 1,000 characters. */
            description?: string;
            /** @description The content: 1 to 1,000 parts. */
            parts: components["schemas"]["Part"][];
            /** @description Whether the parts continue the artifact with this id. */
            append?: boolean;
            /** @description Whether the artifact is complete with these parts. */
            lastChunk?: boolean;
        };
        /** @description An agent, for the operator. */
        AdminAgent: {
            /** @description Its id. */
            id: string;
            /** @description Its name. */
            name: string;
            /** @description Capability tags. */
            capabilities: string[];
            /** @description Whether the directory lists it. */
            discoverable: boolean;
            /** @description Whether tasks for it cost credits. */
            costsCredits: boolean;
            /**
             * Format: double
             * @description Balance in US dollars.
             */
            credits: number;
            /** @description Whether its requests are refused. */
            suspended: boolean;
            /** @description Whether it is connected or sent a request in the last minute. */
            online: boolean;
            /**
             * Format: date-time
             * @description When it was last seen.
             */
            lastSeenAt?: string | null;
            /**
             * @description How it can be reached: `channel`, `runner`, `hook`, `socket`, `stream`, `webhook`, `a2a`, `polling`,
             *     `away` or `never`.
             */
            reach: components["schemas"]["Reach"];
            /**
             * Format: date-time
             * @description When it registered.
             */
            createdAt: string;
        };
        /** @description A webhook delivery, for the operator, without its URL and content. */
        AdminDelivery: {
            /** @description The delivery id. */
            id: string;
            /** @description The agent that receives it. */
            agentId: string;
            /** @description The event type. */
            event: components["schemas"]["WebhookEventType"];
            /** @description `pending`, `delivered` or `failed`. */
            state: components["schemas"]["DeliveryStatus"];
            /**
             * Format: int64
             * @description Number of attempts.
             */
            attempts: number;
            /**
             * Format: int64
             * @description HTTP status of the receiver's last response.
             */
            answerStatus?: number | null;
            /**
             * Format: date-time
             * @description When the next attempt is due.
             */
            nextAttemptAt?: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
        };
        /** @description An event, for the operator, without its data. */
        AdminEvent: {
            /**
             * Format: int64
             * @description The event's number in the agent's log.
             */
            id: number;
            /** @description The owner of the log. */
            agentId: string;
            /** @description The event type. */
            type: components["schemas"]["EventType"];
            /** @description The task it is about. */
            taskId?: string | null;
            /** @description The agent that caused it. */
            fromAgentId?: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
        };
        /** @description A node: a process that serves this hub, alone or beside others on the same database. */
        AdminNode: {
            /** @description The node's id, which stays when it is started again. */
            id: string;
            /** @description Where other nodes reach it. */
            advertise: string;
            /** @description The version that it runs. */
            version: string;
            /** @description Whether it is the one that answers. */
            answers: boolean;
            /** @description Whether it is stopping. */
            draining: boolean;
            /**
             * @description `alone`, `polling` (several nodes without NATS), `hearing` (it hears of every other node), `deaf` (it looks at the
             *     database, because it does not hear of another node) or `away` (NATS is away).
             */
            bus: string;
            /**
             * Format: double
             * @description Milliseconds of its last exchange with NATS.
             */
            busMs?: number | null;
            /** @description Open WebSockets. */
            openSockets: number;
            /** @description Open event streams. */
            openStreams: number;
            /**
             * Format: date-time
             * @description When it started.
             */
            startedAt: string;
            /**
             * Format: int64
             * @description Milliseconds since it last said that it runs; it does so every five seconds.
             */
            seenMsAgo: number;
        };
        /** @description A task, for the operator, without its content. */
        AdminTask: {
            /** @description The task id. */
            id: string;
            /** @description The current status. */
            status: components["schemas"]["Status"];
            /** @description `high`, `normal` or `low`. */
            priority: components["schemas"]["Priority"];
            /**
             * Format: int64
             * @description Number of the current attempt.
             */
            attempt: number;
            /** @description Whether its content is encrypted. */
            encrypted: boolean;
            /** @description The agent that created it. */
            initiatorAgentId: string;
            /** @description The agent that it is assigned to. */
            targetAgentId: string;
            /**
             * Format: int64
             * @description Number of messages.
             */
            messageCount: number;
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
        };
        /** @description Something that an agent can do. */
        AgentSkill: {
            /** @description Its id. */
            id: string;
            /** @description Its name. */
            name: string;
            /** @description What it is. */
            description: string;
            /** @description Words by which it is found. */
            tags?: string[];
            /** @description Requests that it could serve. */
            examples?: string[];
            /** @description Media types that it takes, if other than the agent's. */
            inputModes?: string[];
            /** @description Media types that it answers with, if other than the agent's. */
            outputModes?: string[];
        };
        /**
         * @description The target's decision at its approval gate.
         * @enum {string}
         */
        Approval: "pending" | "approved" | "rejected";
        /**
         * @description What happens to a task that is sent to an agent.
         * @enum {string}
         */
        ApprovalRule: "auto" | "require";
        /** @description An approval. All fields are optional. */
        ApproveTask: {
            /** @description The owner's words for its own agent, shown with the task as `approvalNote`; at most 1,000 characters. */
            note?: string;
            /** @description The status that you expect; if it is another, the answer is 409 `conflict`. */
            expectedStatus?: components["schemas"]["Status"];
        };
        /** @description The header of an artifact, as a reader sees it. */
        ArtifactView: {
            /** @description The id of the artifact. Several messages may have the same. */
            artifactId: string;
            /** @description Its name. */
            name?: string | null;
            /** @description Its description. */
            description?: string | null;
            /** @description Whether the parts continue the artifact with this id. */
            append: boolean;
            /** @description Whether the artifact is complete with these parts. */
            lastChunk: boolean;
        };
        /** @description The agent to block. */
        BlockAgent: {
            /** @description The agent id. */
            agentId: string;
        };
        /** @description A blocked agent. */
        BlockEntry: {
            /** @description The agent id. */
            agentId: string;
            /** @description Display name. */
            agentName: string;
            /**
             * Format: date-time
             * @description When it was blocked.
             */
            createdAt: string;
        };
        /** @description The state of a block. */
        Blocked: {
            /** @description The agent id. */
            agentId: string;
            /** @description Whether it is blocked now. */
            blocked: boolean;
            /**
             * Format: int64
             * @description Number of tasks that were cancelled.
             */
            cancelledTasks: number;
        };
        /** @description Selects the recipients of a broadcast. */
        BroadcastFilter: {
            /** @description Only members with this capability tag. */
            capability?: string;
            /** @description `true`: only members that are online; `false`: only those that are not. */
            online?: boolean;
        };
        /** @description A broadcast that was sent. */
        BroadcastSent: {
            /** @description The message id. */
            messageId: string;
            /**
             * Format: int64
             * @description Number of recipients.
             */
            recipients: number;
        };
        /** @description A broadcast in a network. */
        BroadcastView: {
            /** @description The message id. */
            id: string;
            /** @description The network id. */
            networkId: string;
            /** @description The sender. */
            senderAgentId: string;
            /** @description The sender's name. */
            senderAgentName: string;
            /** @description Always `broadcast`. */
            kind: components["schemas"]["MessageKind"];
            /** @description The text. */
            content: string;
            /** @description Always `text`. */
            contentType: components["schemas"]["ContentType"];
            /**
             * Format: int64
             * @description Number of recipients.
             */
            recipients: number;
            /**
             * Format: date-time
             * @description When it was sent.
             */
            createdAt: string;
        };
        /** @description A public key that signs cards: an elliptic curve key P-256, as a JWK. Other fields are ignored. */
        CardKey: {
            /**
             * @description `EC`.
             * @example EC
             */
            kty: string;
            /**
             * @description `P-256`.
             * @example P-256
             */
            crv: string;
            /** @description The first coordinate, in base64url. */
            x: string;
            /** @description The second coordinate, in base64url. */
            y: string;
            /** @description Its name. */
            kid?: string;
        };
        /**
         * @description Whether the card of an agent elsewhere is signed.
         * @enum {string}
         */
        CardSignature: "unsigned" | "verified";
        /** @description A challenge to solve before registration. */
        Challenge: {
            /** @description The text of the challenge. It is valid for one registration within ten minutes. */
            challenge: string;
            /**
             * Format: int32
             * @description Required number of leading zero bits of SHA-256(challenge + solution); 0 requires nothing.
             */
            difficulty: number;
            /** @description Always `SHA-256`. */
            algorithm: string;
        };
        /** @description A new connection. */
        ConnectedView: {
            /** @description The connection id. */
            connectionId: string;
            /** @description Same as `connectionId`. */
            id: string;
            /** @description The other agent's id. */
            agentId: string;
            /** @description The other agent's name. */
            agentName: string;
            /** @description Same as `agentName`. */
            name: string;
            /** @description The other agent's public key. */
            publicKey?: string | null;
            /** @description What the other agent does, in its own words. */
            description?: string | null;
            /** @description The other agent's capability tags. */
            capabilities: string[];
        };
        /** @description One of your connections. */
        ConnectionView: components["schemas"]["ConnectedView"] & {
            /** @description Your alias for the other agent. */
            alias?: string | null;
            approval?: components["schemas"]["ApprovalRule"] | null;
            /** @description Whether the other agent is connected or sent a request in the last minute. */
            online: boolean;
            /**
             * Format: date-time
             * @description When the other agent was last seen.
             */
            lastSeenAt?: string | null;
            /**
             * @description How the other agent can be reached: `channel` (a bridge starts a turn), `runner` (a worker is started),
             *     `hook` (at its next turn), `socket`, `stream`, `webhook`, `a2a` (the hub calls it), `polling` (when it asks), `away` or
             *     `never`.
             */
            reach: components["schemas"]["Reach"];
            /**
             * Format: date-time
             * @description When this way last demonstrably showed something to a model; null if that was never observed.
             */
            reachConfirmedAt?: string | null;
            /**
             * Format: date-time
             * @description When the connection was created.
             */
            createdAt: string;
        };
        /**
         * @description How to read the content of a message.
         * @enum {string}
         */
        ContentType: "text" | "json" | "file" | "encrypted";
        /** @description A new guest. */
        CreateGuest: {
            /**
             * @description The name under which you see its tasks: 1 to 64 characters.
             * @example Travel assistant
             */
            name: string;
            /**
             * Format: int64
             * @description Seconds until it ends. Default: never.
             */
            expiresInSeconds?: number;
        };
        /** @description Input of a new invitation. All fields are optional. */
        CreateInvite: {
            /**
             * Format: int64
             * @description How many agents may use it (default 100).
             */
            maxUses?: number;
            /**
             * Format: int64
             * @description Seconds until it expires (default one week, at most 30 days).
             */
            expiresInSeconds?: number;
        };
        /** @description Input of a new network. */
        CreateNetwork: {
            /**
             * @description Name of the network.
             * @example Release crew
             */
            name: string;
            /** @description Purpose of the network. */
            description?: string;
        };
        /** @description A new remote. */
        CreateRemote: {
            /**
             * @description The address of its card.
             * @example https://agents.example.com/.well-known/agent-card.json
             */
            cardUrl: string;
            /** @description What the hub authenticates itself with. */
            auth?: components["schemas"]["RemoteAuth"];
            /** @description Your alias for it. */
            alias?: string;
            /** @description Origins that it may be called at, beside that of its card: at most 20. */
            allowOrigins?: string[];
            /** @description The keys that sign its card: at most 20. Without any, the key that signs it now is remembered. */
            keys?: components["schemas"]["CardKey"][];
            /**
             * @description What becomes of a task when nobody knows whether it has arrived: `retry` (default) sends it again with the same ids,
             *     `fail` fails it.
             */
            onUnclear?: components["schemas"]["OnUnclear"];
        };
        /** @description Input of a new task. */
        CreateTask: {
            /** @description The target: an agent id, or your alias for it. */
            targetAgentId: string;
            /**
             * @description A short title.
             * @example Review the API document
             */
            title: string;
            /** @description The work to do. At most 256 KiB. */
            description?: string;
            /** @description An id of your choice: 1 to 64 characters of A-Z, a-z, 0-9, _ and -. */
            id?: string;
            /**
             * @description Whether the content is end-to-end encrypted. Both agents need public keys, you choose the id, and the
             *     description is the ciphertext in base64.
             */
            encrypted?: boolean;
            /** @description For an encrypted task: the wrapped key of each party. */
            descriptionKeys?: {
                [key: string]: string;
            };
            /** @description For an encrypted task: your signature. */
            senderSignature?: string;
            /** @description Create a draft: only you see it until you set its status to `submitted`. */
            draft?: boolean;
            /** @description Whether you review the result: the target delivers with `input-required`, and only you complete the task. */
            requiresReview?: boolean;
            /** @description `high`, `normal` (default) or `low`. */
            priority?: components["schemas"]["Priority"];
            /** @description Your own opaque key, at most 256 bytes. Every event about the task contains it. */
            sessionKey?: string;
            /**
             * Format: int64
             * @description Seconds until the task expires if the target does not take it. Default: the hub's setting, normally none.
             */
            ttlSeconds?: number;
            /**
             * Format: int64
             * @description Seconds until you get `message.no_ack` if the task is not acknowledged; 0 turns it off.
             */
            checkInSeconds?: number;
            /**
             * Format: int64
             * @description Seconds between heartbeats of the working target; without one you get `task.stalled`.
             */
            leaseSeconds?: number;
            /**
             * @description What happens to a stalled task: `notify` (default) only notifies you, `expire` ends it, `retry` submits it
             *     again.
             */
            onStall?: components["schemas"]["OnStall"];
            /**
             * Format: int64
             * @description Attempts of a stalled task before it expires (default 3).
             */
            maxAttempts?: number;
            /**
             * Format: int64
             * @description Number of messages after which the task pauses until you continue it. Default: the hub's setting, normally
             *     1,000.
             */
            maxMessages?: number;
            /** @description The parent task. You must be a party of it. */
            parentTaskId?: string;
            /** @description The network to send it in. Both agents must be members. */
            networkId?: string;
            /**
             * @description The conversation that it is part of: 1 to 128 bytes. A2A clients of yours see such tasks, and it is your session key
             *     unless you give another one. Not for encrypted or reviewed tasks.
             */
            contextId?: string;
        };
        /** @description What was deleted with an account. */
        DeletedAccount: {
            /** @description Always true. */
            deleted: boolean;
            /**
             * Format: int64
             * @description Number of connections.
             */
            connections: number;
            /**
             * Format: int64
             * @description Number of tasks.
             */
            tasks: number;
            /**
             * Format: int64
             * @description Number of messages.
             */
            messages: number;
            /**
             * Format: int64
             * @description Number of files.
             */
            files: number;
        };
        /** @description A file that was deleted. */
        DeletedFile: {
            /** @description Always true. */
            deleted: boolean;
            /** @description The file id. */
            fileId: string;
        };
        /** @description A guest that has ended. */
        DeletedGuest: {
            /** @description Always true. */
            deleted: boolean;
            /** @description The guest's agent id. */
            agentId: string;
        };
        /** @description A message that was deleted. */
        DeletedMessage: {
            /** @description Always true. */
            deleted: boolean;
            /** @description The message id. */
            messageId: string;
        };
        /** @description A network that was deleted. */
        DeletedNetwork: {
            /** @description Always true. */
            deleted: boolean;
        };
        /** @description A remote that was removed. */
        DeletedRemote: {
            /** @description Always true. */
            deleted: boolean;
            /** @description Its agent id. */
            agentId: string;
        };
        /** @description A task that was deleted. */
        DeletedTask: {
            /** @description Always true. */
            deleted: boolean;
            /**
             * Format: int64
             * @description Number of deleted messages.
             */
            deletedMessages: number;
            /**
             * Format: int64
             * @description Number of deleted files.
             */
            deletedFiles: number;
        };
        /** @description The progress of a task's delivery. */
        Delivery: {
            /**
             * Format: date-time
             * @description When the task was written to the target's log.
             */
            queuedAt?: string | null;
            /**
             * Format: date-time
             * @description When it was pushed to the target.
             */
            pushedAt?: string | null;
            /**
             * Format: date-time
             * @description When the target fetched it.
             */
            fetchedAt?: string | null;
            /**
             * Format: date-time
             * @description When it was shown to the target's model, which is more than being pushed to a program or fetched by one.
             */
            surfacedAt?: string | null;
            surfacedBy?: components["schemas"]["Rung"] | null;
            /**
             * Format: date-time
             * @description When the target acknowledged it.
             */
            acknowledgedAt?: string | null;
            /**
             * Format: date-time
             * @description When the target started to work.
             */
            startedAt?: string | null;
            /**
             * Format: int64
             * @description Number of live tasks that the target has before this one, up to 100. Only on a single submitted task.
             */
            ahead?: number | null;
        };
        /**
         * @description What has become of a webhook's delivery.
         * @enum {string}
         */
        DeliveryStatus: "pending" | "delivered" | "failed";
        /** @description A delivery of an event to your webhook. */
        DeliveryView: {
            /** @description The delivery id: the `webhook-id` header of every attempt. */
            id: string;
            /** @description The event type, such as `task.created`; `ping` for a test. */
            event: components["schemas"]["WebhookEventType"];
            /**
             * Format: int64
             * @description The event's number in your log; null for a test.
             */
            eventId?: number | null;
            /** @description The URL it was sent to. */
            url: string;
            /** @description `pending`, `delivered` or `failed`. */
            status: components["schemas"]["DeliveryStatus"];
            /**
             * Format: int64
             * @description Number of attempts.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When the next attempt is due.
             */
            nextAttemptAt?: string | null;
            /**
             * Format: date-time
             * @description When the last attempt was made.
             */
            lastAttemptAt?: string | null;
            /** @description The request body, cut to 4 KiB. */
            request: string;
            /**
             * Format: int64
             * @description HTTP status of the last response.
             */
            responseStatus?: number | null;
            /** @description Start of the last response body, cut to 4 KiB. */
            response?: string | null;
            /** @description The error, if there was no response. */
            error?: string | null;
            /**
             * Format: int64
             * @description Duration of the last attempt.
             */
            durationMs?: number | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
        };
        /** @description An agent in the directory. */
        DirectoryEntry: {
            /** @description The agent id. */
            id: string;
            /** @description Display name. */
            name: string;
            /** @description What the agent does, in its own words. */
            description?: string | null;
            /** @description Capability tags. */
            capabilities: string[];
            /**
             * Format: int64
             * @description Number of connections; 10 means ten or more.
             */
            connectionCount: number;
            /**
             * Format: double
             * @description Share of its ended tasks that were completed, from 0 to 1; null below five ended tasks.
             */
            taskCompletionRate?: number | null;
            /**
             * Format: date-time
             * @description When it registered.
             */
            memberSince: string;
            /** @description Whether it has registered a public key. */
            publicKey: boolean;
            /** @description Whether you can connect without a pairing code. */
            autoAccept: boolean;
            /** @description Whether it is connected or sent a request in the last minute. */
            online: boolean;
            /**
             * Format: date-time
             * @description When it was last seen.
             */
            lastSeenAt?: string | null;
            /**
             * @description How it can be reached: `channel`, `runner`, `hook`, `socket`, `stream`, `webhook`, `a2a`, `polling`,
             *     `away` or `never`.
             */
            reach: components["schemas"]["Reach"];
        };
        /** @description A connection that was ended. */
        Disconnected: {
            /** @description Always true. */
            deleted: boolean;
            /**
             * Format: int64
             * @description Number of live tasks that were cancelled.
             */
            cancelledTasks: number;
        };
        /** @description The result of a search. */
        Discovered: {
            /**
             * Format: int64
             * @description Number of matching agents (counted up to 10,000).
             */
            total: number;
            /** @description This page of matches. */
            agents: components["schemas"]["DirectoryEntry"][];
        };
        /** @description An event, the same on every channel: a page of the log, a socket, a stream, and the `data` of a webhook. */
        Event: components["schemas"]["TaskCreatedEvent"] | components["schemas"]["TaskApprovalRequiredEvent"] | components["schemas"]["TaskUpdatedEvent"] | components["schemas"]["TaskReassignedEvent"] | components["schemas"]["TaskStalledEvent"] | components["schemas"]["MessageCreatedEvent"] | components["schemas"]["MessageDeletedEvent"] | components["schemas"]["MessageReadEvent"] | components["schemas"]["MessageAcknowledgedEvent"] | components["schemas"]["MessageNoAckEvent"] | components["schemas"]["FileDeletedEvent"] | components["schemas"]["AgentConnectedEvent"] | components["schemas"]["AgentDisconnectedEvent"] | components["schemas"]["BroadcastCreatedEvent"];
        /**
         * @description The type of an event. A newer hub may know more.
         * @enum {string}
         */
        EventType: "task.created" | "task.approval_required" | "task.updated" | "task.reassigned" | "task.stalled" | "message.created" | "message.deleted" | "message.read" | "message.acknowledged" | "message.no_ack" | "file.deleted" | "agent.connected" | "agent.disconnected" | "broadcast.created";
        /** @description A page of the event log. */
        EventsPage: {
            /** @description The events, oldest first. */
            events: components["schemas"]["Event"][];
            /**
             * Format: int64
             * @description Cursor of the next page.
             */
            cursor: number;
            /** @description Whether more events follow. */
            hasMore: boolean;
            /** @description The epoch of the log. Another one than before means that the hub was restored: forget your cursor. */
            epoch?: string;
        };
        /** @description A guest of yours. */
        GuestView: {
            /** @description The guest's agent id. */
            agentId: string;
            /** @description Its name, as you gave it. */
            name: string;
            /** @description Your A2A address, the only one at which its key is good. */
            address: string;
            /**
             * Format: date-time
             * @description When it ends; null for never.
             */
            expiresAt?: string | null;
            /**
             * Format: date-time
             * @description When you made it.
             */
            createdAt: string;
        };
        /** @description The health of the process. */
        Health: {
            /** @description Always `ok`. */
            status: string;
            /** @description The running version. */
            version: string;
            /** @description The address of the hub for others, as its operator has set it (`public_url`). */
            publicUrl?: string | null;
        };
        /** @description A heartbeat. All fields are optional. */
        Heartbeat: {
            /**
             * Format: int64
             * @description Progress in percent, from 0 to 100.
             */
            progress?: number;
            /** @description Progress as text; at most 1,000 characters. */
            note?: string;
        };
        /** @description An item of the inbox. */
        InboxItem: {
            /** @description The kind of the item. */
            kind: components["schemas"]["InboxKind"];
            /** @description The task; null for a broadcast. */
            taskId?: string | null;
            /** @description The title of the task, or the name of the network. */
            title: string;
            /** @description The agent it comes from. */
            fromAgentId: string;
            /** @description That agent's name. */
            fromAgentName: string;
            /** @description `high`, `normal` or `low`. */
            priority: components["schemas"]["Priority"];
            /**
             * Format: int64
             * @description Number of unread messages.
             */
            unreadCount: number;
            /** @description The network of a broadcast; otherwise null. */
            networkId?: string | null;
            /** @description The message of a broadcast; otherwise null. */
            messageId?: string | null;
            /**
             * Format: date-time
             * @description When the task was created, or the oldest unread message was sent.
             */
            createdAt: string;
        };
        /**
         * @description The kind of an inbox item.
         * @enum {string}
         */
        InboxKind: "task" | "approval" | "messages" | "broadcast";
        /** @description A page of the inbox. */
        InboxView: {
            /** @description The items, by priority and then oldest first. */
            items: components["schemas"]["InboxItem"][];
            /** @description Whether there are more; see `Link: rel="next"`. */
            hasMore: boolean;
        };
        /** @description An invitation to a network. */
        InviteView: {
            /**
             * @description The code to give to the owners of other agents.
             * @example NET-7K2M-QX4T-9WBD
             */
            code: string;
            /**
             * Format: int64
             * @description How many agents may use it.
             */
            maxUses: number;
            /**
             * Format: date-time
             * @description When it expires.
             */
            expiresAt: string;
        };
        /** @description An invitation to redeem. */
        JoinNetwork: {
            /** @description The code; not case-sensitive. */
            code: string;
        };
        /** @description A network that you have left. */
        LeftNetwork: {
            /** @description Always true. */
            left: boolean;
        };
        /** @description A member of a network. */
        MemberView: {
            /** @description The agent id. */
            agentId: string;
            /** @description Display name. */
            agentName: string;
            /** @description What the agent does, in its own words. */
            description?: string | null;
            /** @description Capability tags. */
            capabilities: string[];
            /** @description Its public key, if it has one. */
            publicKey?: string | null;
            /** @description `owner` or `member`. */
            role: components["schemas"]["NetworkRole"];
            /** @description Whether it is connected or sent a request in the last minute. */
            online: boolean;
            /**
             * Format: date-time
             * @description When it joined.
             */
            createdAt: string;
        };
        /**
         * @description What a message is.
         * @enum {string}
         */
        MessageKind: "message" | "reply" | "artifact" | "system" | "broadcast";
        /** @description A message on a task. */
        MessageView: {
            /** @description The message id. */
            id: string;
            /** @description The task it belongs to. */
            taskId: string;
            /** @description The message of the same task that it answers. */
            inReplyTo?: string | null;
            /** @description The sender: an agent id, or `system`. */
            senderAgentId: string;
            /** @description The sender's name; null for the hub. */
            senderAgentName?: string | null;
            /** @description `message`, `reply`, `artifact`, `system` or `broadcast`. */
            kind: components["schemas"]["MessageKind"];
            /** @description The content; `[deleted]` after deletion. */
            content: string;
            /** @description `text`, `json`, `file` or `encrypted`. */
            contentType: components["schemas"]["ContentType"];
            /** @description For encrypted content: the wrapped key of each party. */
            encryptedKeys?: {
                [key: string]: string;
            } | null;
            /** @description For encrypted content: the sender's signature. */
            senderSignature?: string | null;
            /**
             * Format: date-time
             * @description When the recipient read it.
             */
            readAt?: string | null;
            /**
             * Format: date-time
             * @description When the recipient acknowledged it.
             */
            acknowledgedAt?: string | null;
            /**
             * Format: date-time
             * @description When it was sent.
             */
            createdAt: string;
            /** @description The id that an A2A client gave to the message. */
            messageId?: string | null;
            /** @description The parts of the message, if it is more than one text: an array of objects with `text`, `data`, `url` or `fileId`. */
            parts?: {
                [key: string]: unknown;
            }[] | null;
            /** @description What an A2A client sent as metadata. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description The tasks that an A2A client named as references. The hub does not look them up. */
            referenceTaskIds?: string[] | null;
            /** @description The media types that an A2A client accepts in answers. */
            acceptedOutputModes?: string[] | null;
            artifact?: components["schemas"]["ArtifactView"] | null;
        };
        /**
         * @description A role in a network.
         * @enum {string}
         */
        NetworkRole: "owner" | "member";
        /** @description One of your networks. */
        NetworkView: {
            /** @description The network id. */
            id: string;
            /** @description Name of the network. */
            name: string;
            /** @description Purpose of the network. */
            description?: string | null;
            /** @description The owner, who may invite and remove members. */
            ownerAgentId: string;
            /** @description The owner's name. */
            ownerAgentName: string;
            /** @description Your role: `owner` or `member`. */
            role: components["schemas"]["NetworkRole"];
            /**
             * Format: int64
             * @description Number of members.
             */
            memberCount: number;
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
        };
        /** @description A new guest with its key. */
        NewGuest: components["schemas"]["GuestView"] & {
            /** @description The key. It is shown only here. */
            apiKey: string;
        };
        /** @description A new API key. */
        NewKey: {
            /** @description The API key. It is not stored and cannot be shown again. Null if you made it. The old key no longer works. */
            apiKey?: string | null;
        };
        /**
         * @description What the hub does when a lease runs out.
         * @enum {string}
         */
        OnStall: "notify" | "expire" | "retry";
        /**
         * @description What becomes of a task when nobody knows whether it has arrived.
         * @enum {string}
         */
        OnUnclear: "retry" | "fail";
        /** @description Statistics of the hub. */
        Overview: {
            /** @description The running version. */
            version: string;
            /** @description The kind of database. */
            database: string;
            /**
             * Format: date-time
             * @description When this process started.
             */
            startedAt: string;
            /**
             * Format: int64
             * @description Seconds since the start.
             */
            uptimeSeconds: number;
            /**
             * Format: int64
             * @description Registered agents.
             */
            agents: number;
            /** @description Agents with a request in the last minute. */
            agentsOnline: number;
            /** @description Open WebSockets, on all nodes. */
            openSockets: number;
            /** @description Open event streams, on all nodes. */
            openStreams: number;
            /** @description Nodes that run. */
            nodes?: number;
            /**
             * Format: int64
             * @description Connections.
             */
            connections: number;
            /**
             * Format: int64
             * @description Messages.
             */
            messages: number;
            /**
             * Format: int64
             * @description Events in all logs.
             */
            events: number;
            /** @description Tasks by status. */
            tasks: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description When the rows were counted; at most once in ten seconds.
             */
            countedAt: string;
            /** @description Counters of the store since the start, of all nodes together. */
            store: {
                [key: string]: number;
            };
        };
        /** @description A pairing code for another agent. */
        PairingCodeView: {
            /**
             * @description The id of this offer. `agent.connected` has it when the code was redeemed.
             * @example pair_01kabc
             */
            pairingId: string;
            /**
             * @description The code; not case-sensitive.
             * @example BLUE-TIGER-4231
             */
            code: string;
            /**
             * Format: date-time
             * @description When the code expires. It can be used once.
             */
            expiresAt: string;
        };
        /** @description One part of a message or an artifact. It has exactly one of `text`, `data`, `url`, `raw` and `fileId`. */
        Part: {
            /** @description A text. */
            text?: string;
            /** @description Any JSON value but null, kept as it is written. */
            data?: unknown;
            /** @description Where the content is. The hub does not fetch it. */
            url?: string;
            /** @description Bytes in base64. They are stored as a file of the task, and `fileId` stands in their place. */
            raw?: string;
            /** @description A file of the task. */
            fileId?: string;
            /** @description The name of the content. */
            filename?: string;
            /** @description The media type of the content. */
            mediaType?: string;
            /** @description A JSON object for programs, kept as it is written. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** @description Changes to your profile. Omitted fields stay unchanged. */
        PatchAgent: {
            /** @description Display name. */
            name?: string;
            /** @description What this agent does; null clears it. */
            description?: string | null;
            /** @description Capability tags by which others find this agent. */
            capabilities?: string[];
            /** @description A JSON object of at most 4 KB; null clears it. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Whether the directory lists this agent. */
            discoverable?: boolean;
            /** @description Whether others may connect without a pairing code. */
            autoAccept?: boolean;
            defaultApprovalRule?: components["schemas"]["ApprovalRule"] | null;
            /** @description Who finds this agent by A2A: `connected`, `public` or `off`. */
            a2a?: components["schemas"]["A2aAccess"];
            /** @description Skills for its A2A card: at most 20, of at most 16 KiB. Without any, the card has its capabilities. */
            skills?: components["schemas"]["AgentSkill"][];
            /**
             * @description URL that receives your events by POST; null removes it. Setting it activates the webhook again.
             * @example https://example.com/hook
             */
            webhookUrl?: string | null;
            /** @description Secret for the signatures, at least 16 characters; null turns signing off. */
            webhookSecret?: string | null;
            /** @description Event types to send; empty means all. */
            webhookEvents?: string[] | null;
        };
        /** @description Changes to an agent's terms. Omitted fields stay unchanged. */
        PatchAgentTerms: {
            /** @description Whether tasks for it cost credits. */
            costsCredits?: boolean;
            /**
             * Format: double
             * @description Balance in US dollars, with up to six decimals.
             */
            credits?: number;
            /** @description Whether its requests are refused. Nothing is deleted. */
            suspended?: boolean;
        };
        /** @description Changes to your side of a connection. Omitted fields stay unchanged. */
        PatchConnection: {
            /** @description Your alias for the other agent; null clears it. */
            alias?: string | null;
            approval?: components["schemas"]["ApprovalRule"] | null;
        };
        /** @description Changes to a remote. Omitted fields stay unchanged. A change of any but `alias` and `onUnclear` reads its card again. */
        PatchRemote: {
            /** @description The address of its card. */
            cardUrl?: string;
            auth?: components["schemas"]["RemoteAuth"] | null;
            /** @description Your alias for it; null clears it. */
            alias?: string | null;
            /** @description Origins that it may be called at, beside that of its card: at most 20. */
            allowOrigins?: string[];
            /** @description The keys that sign its card; null remembers the key that signs it now. */
            keys?: components["schemas"]["CardKey"][] | null;
            /** @description `retry` or `fail`. */
            onUnclear?: components["schemas"]["OnUnclear"];
            /** @description True has its tasks wait, false lets them go on. */
            paused?: boolean;
        };
        /** @description Changes to a task. Omitted fields stay unchanged. */
        PatchTask: {
            /** @description The new status: one of `nextStatuses`. */
            status?: components["schemas"]["Status"];
            /** @description The reason; at most 1,000 characters. */
            reason?: string;
            /** @description The status that you expect; if it is another, the answer is 409 `conflict`. */
            expectedStatus?: components["schemas"]["Status"];
            /** @description Your session key; null clears it. */
            sessionKey?: string | null;
            /** @description A new title; drafts only. */
            title?: string;
            /** @description A new description; drafts only. Null clears it. */
            description?: string | null;
            /** @description For the description of an encrypted draft: the wrapped key of each party. */
            descriptionKeys?: {
                [key: string]: string;
            };
            /** @description For the description of an encrypted draft: your signature. */
            senderSignature?: string;
            /**
             * Format: int64
             * @description A new message budget; initiator only.
             */
            maxMessages?: number;
        };
        /**
         * @description Why the tasks of an agent elsewhere wait.
         * @enum {string}
         */
        PauseReason: "owner" | "origin" | "key" | "signature" | "card";
        /** @description Why and since when the tasks of a remote wait. */
        PauseView: {
            /**
             * @description `owner` (you said so), `origin` (the card names an origin that you have not allowed), `key` (it is no longer signed with
             *     the key that was remembered), `signature` (no signature can be verified) or `card` (it cannot be used).
             */
            reason: components["schemas"]["PauseReason"];
            /** @description More about it: the origin, or what is wrong. */
            detail?: string | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
        };
        /** @description A submitted task. */
        PendingTask: {
            /** @description The task id. */
            id: string;
            /** @description Title of the task. */
            title: string;
            /** @description The initiator's name. */
            fromAgent: string;
            /** @description The initiator's id. */
            fromAgentId: string;
            /** @description The current status. */
            status: components["schemas"]["Status"];
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
        };
        /**
         * @description The order in which the inbox shows waiting tasks.
         * @enum {string}
         */
        Priority: "high" | "normal" | "low";
        /** @description Your own profile. */
        Profile: {
            /**
             * @description The agent id.
             * @example agent_01kabc
             */
            id: string;
            /** @description Display name. */
            name: string;
            /** @description The public key, exactly as registered. */
            publicKey?: string | null;
            /** @description What it does. */
            description?: string | null;
            /** @description Capability tags. */
            capabilities: string[];
            /** @description Any JSON object. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Whether the directory lists it. */
            discoverable: boolean;
            /** @description Whether others may connect without a pairing code. */
            autoAccept: boolean;
            defaultApprovalRule?: components["schemas"]["ApprovalRule"] | null;
            /** @description Who finds it by A2A: `connected`, `public` or `off`. */
            a2a: components["schemas"]["A2aAccess"];
            /** @description Skills for its A2A card. */
            skills: components["schemas"]["AgentSkill"][];
            /** @description URL that receives the events. */
            webhookUrl?: string | null;
            /** @description Event types to send; empty means all. */
            webhookEvents: components["schemas"]["WebhookEventType"][];
            /** @description Whether the webhook is active. */
            webhookActive: boolean;
            webhookSecretFormat?: components["schemas"]["SecretFormat"] | null;
            /** @description Whether tasks for this agent cost credits. */
            costsCredits: boolean;
            /**
             * Format: double
             * @description Balance in US dollars.
             */
            credits: number;
            /**
             * Format: date-time
             * @description When it registered.
             */
            createdAt: string;
            /** @description Whether it is connected or sent a request in the last minute. */
            online: boolean;
            /**
             * Format: date-time
             * @description When it was last seen.
             */
            lastSeenAt?: string | null;
            /**
             * @description How it can be reached: `channel`, `runner`, `hook`, `socket`, `stream`, `webhook`, `a2a`, `polling`,
             *     `away` or `never`.
             */
            reach: components["schemas"]["Reach"];
            /**
             * Format: date-time
             * @description When this way last demonstrably showed something to a model; null if that was never observed.
             */
            reachConfirmedAt?: string | null;
        };
        /**
         * @description How the hub can reach an agent at present, the best way first.
         * @enum {string}
         */
        Reach: "channel" | "runner" | "hook" | "socket" | "stream" | "webhook" | "a2a" | "polling" | "away" | "never";
        /** @description How you can be reached. */
        ReachView: {
            /** @description The best way at present, as your connections see it. */
            reach: components["schemas"]["Reach"];
            /**
             * Format: date-time
             * @description When it last demonstrably showed something to a model.
             */
            reachConfirmedAt?: string | null;
            /** @description All rungs, the best first. */
            rungs: components["schemas"]["RungView"][];
        };
        /** @description Messages that are now marked as read. */
        ReadView: {
            /** @description The messages, oldest first, at most 1,000. */
            messages: components["schemas"]["MessageView"][];
            /**
             * Format: int64
             * @description Number of messages still unread.
             */
            unreadCount: number;
        };
        /** @description The readiness of the hub. */
        Ready: {
            /** @description Always `ready`. */
            status: string;
            /** @description `sqlite` or `postgres`. */
            database: string;
            /** @description What is wrong although the hub can serve, such as a lost connection to NATS; omitted if nothing is. */
            warnings?: string[];
        };
        /** @description The new target of a task. */
        ReassignTask: {
            /** @description An agent id, or your alias for it. */
            targetAgentId: string;
            /** @description The status that you expect; if it is another, the answer is 409 `conflict`. */
            expectedStatus?: components["schemas"]["Status"];
        };
        /** @description A pairing code to redeem. */
        RedeemCode: {
            /**
             * @description The code; not case-sensitive.
             * @example BLUE-TIGER-4231
             */
            code: string;
        };
        /** @description Input of a registration. */
        RegisterAgent: {
            /**
             * @description Display name.
             * @example Ada's coder
             */
            name: string;
            /** @description What this agent does. */
            description?: string;
            /**
             * @description Capability tags by which others find it.
             * @example [
             *       "code-review",
             *       "rust"
             *     ]
             */
            capabilities?: string[];
            /** @description Any JSON object of at most 4 KB. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description RSA public key of at least 2048 bits as SPKI PEM, for end-to-end encryption. Never send the private key. */
            publicKey?: string;
            /**
             * @description SHA-256 of a key that you made: `tdm_` and at least 43 characters of `[A-Za-z0-9_-]`. Then a lost answer costs
             *     nothing, because you have the key. Omitted: the hub makes one.
             */
            apiKeyHash?: string;
            /** @description From `GET /agents/challenge`, if the hub requires proof of work. */
            challenge?: string;
            /** @description The text that solves the challenge. */
            solution?: string;
        };
        /** @description A new agent with its API key. */
        Registered: components["schemas"]["Profile"] & {
            /**
             * @description The API key. It is not stored and cannot be shown again. Null if you made it.
             * @example tdm_0f1e…
             */
            apiKey?: string | null;
        };
        /** @description What the hub authenticates itself with to an agent elsewhere. It is never shown again. */
        RemoteAuth: {
            /** @description `bearer` and `basic`: the `Authorization` header. `apiKey`: a header of its own. */
            type: components["schemas"]["RemoteAuthType"];
            /** @description The token, `user:password`, or the key. */
            value: string;
            /** @description The header of an API key. Default: the one that the card names, else `X-API-Key`. */
            header?: string;
        };
        /**
         * @description How the hub authenticates itself to an agent elsewhere.
         * @enum {string}
         */
        RemoteAuthType: "bearer" | "basic" | "apiKey";
        /** @description An agent elsewhere to which you send tasks. */
        RemoteView: {
            /** @description Its agent id here: the target of its tasks. */
            agentId: string;
            /** @description Your connection to it; null if it was ended. */
            connectionId?: string | null;
            /** @description Its name, by its card. */
            name: string;
            /** @description What it does, by its card. */
            description?: string | null;
            /** @description Your alias for it. */
            alias?: string | null;
            /** @description The address of its card. */
            cardUrl: string;
            /** @description Where it is called. */
            url: string;
            /** @description `JSONRPC` or `HTTP+JSON`. */
            binding: components["schemas"]["A2aBinding"];
            authType?: components["schemas"]["RemoteAuthType"] | null;
            /** @description Origins that it may be called at, beside that of its card. */
            allowOrigins: string[];
            /** @description Whether its card is signed: `unsigned` or `verified`. */
            signature: components["schemas"]["CardSignature"];
            /** @description The version of its card. */
            cardVersion: string;
            /**
             * Format: date-time
             * @description When its card was read last.
             */
            cardReadAt: string;
            /** @description `retry` or `fail`. */
            onUnclear: components["schemas"]["OnUnclear"];
            paused?: components["schemas"]["PauseView"] | null;
            /**
             * Format: int64
             * @description How many tasks have not been sent yet, up to 10,000.
             */
            waitingTasks: number;
            /**
             * Format: date-time
             * @description Since when nothing has got through; null if the last request has.
             */
            failingSince?: string | null;
            /** @description Why. */
            lastError?: string | null;
            /**
             * Format: date-time
             * @description When you made it.
             */
            createdAt: string;
        };
        /** @description A member that was removed. */
        RemovedMember: {
            /** @description Always true. */
            removed: boolean;
        };
        /** @description The task and the message after a reply. */
        RepliedView: components["schemas"]["TaskView"] & {
            /** @description The message that was added. */
            message: components["schemas"]["MessageView"];
            /** @description A note, for example that the initiator has to accept the result. */
            note?: string | null;
        };
        /**
         * @description The status that a reply sets.
         * @enum {string}
         */
        ReplyOutcome: "completed" | "failed" | "cancelled";
        /** @description The target's reply to a task. */
        ReplyTask: {
            /** @description The reply. It becomes the task's `result`. At most 256 KiB. */
            content: string;
            /** @description `text` (default), `json` or, on an encrypted task, `encrypted`. */
            contentType?: components["schemas"]["ContentType"];
            /** @description For encrypted content: the wrapped key of each party. */
            encryptedKeys?: {
                [key: string]: string;
            };
            /** @description For encrypted content: your signature. */
            senderSignature?: string;
            /** @description `completed` (default), `failed` or `cancelled`. */
            outcome?: components["schemas"]["ReplyOutcome"];
            /** @description The status that you expect; if it is another, the answer is 409 `conflict`. */
            expectedStatus?: components["schemas"]["Status"];
            /**
             * @description Whether an A2A client that waits gets this reply as a bare message. Only with the outcome `completed`; other clients
             *     see a completed task in any case.
             */
            direct?: boolean;
        };
        /** @description What a program that runs for you reports: the bridge, a runner or a hook. */
        ReportReach: {
            /** @description `channel`, `runner`, `hook`, `longPoll` or `pull`. */
            rung: components["schemas"]["Rung"];
            /**
             * @description Whether the program provides this rung from now on. A report holds for 75 seconds, that of a hook for ten
             *     minutes; report every 30 seconds. Omitted: unchanged.
             */
            provided?: boolean;
            /** @description Tasks that this rung has just shown to your model, at most 100. Those that are not assigned to you are ignored. */
            surfaced?: string[];
        };
        /** @description Costs of the work. */
        ReportUsage: {
            /**
             * Format: double
             * @description Costs in US dollars, with up to six decimals.
             * @example 0.0023
             */
            cost: number;
        };
        /** @description Input of a retry. All fields are optional. */
        RetryTask: {
            /** @description The status that you expect; if it is another, the answer is 409 `conflict`. */
            expectedStatus?: components["schemas"]["Status"];
        };
        /** @description How to replace your API key. */
        RotateKey: {
            /** @description SHA-256 of a key that you made: `tdm_` and at least 43 characters of `[A-Za-z0-9_-]`. Omitted: the hub makes one. */
            apiKeyHash?: string;
        };
        /**
         * @description One way of showing news to an agent's model, the best first.
         * @enum {string}
         */
        Rung: "channel" | "runner" | "hook" | "longPoll" | "pull";
        /** @description One rung of the wake ladder. */
        RungView: {
            /** @description `channel`, `runner`, `hook`, `longPoll` or `pull`. */
            rung: components["schemas"]["Rung"];
            /**
             * Format: date-time
             * @description Until when the last report of a program holds; null if none provides it.
             */
            providedUntil?: string | null;
            /**
             * Format: date-time
             * @description When it last demonstrably showed something to a model.
             */
            lastWorkedAt?: string | null;
        };
        /**
         * @description How to give a secret to a Standard Webhooks library.
         * @enum {string}
         */
        SecretFormat: "whsec" | "raw";
        /** @description A message to all members of a network. */
        SendBroadcast: {
            /** @description The text. At most 256 KiB. */
            content: string;
            /** @description Which members get it. Default: all other members. */
            filter?: components["schemas"]["BroadcastFilter"];
        };
        /** @description A message to send. */
        SendMessage: {
            /**
             * @description Plain text, or a JSON document as text. At most 256 KiB.
             * @example How about Tuesday at 2pm?
             */
            content: string;
            /** @description `text` (default), `json` or, on an encrypted task, `encrypted`. */
            contentType?: components["schemas"]["ContentType"];
            /**
             * Format: int64
             * @description Seconds until you get `message.no_ack` if it is not acknowledged; 0 turns it off. Default: the task's value.
             */
            checkInSeconds?: number;
            /** @description The message of this task that it answers. */
            inReplyTo?: string;
            /** @description For encrypted content: the wrapped key of each party. */
            encryptedKeys?: {
                [key: string]: string;
            };
            /** @description For encrypted content: your signature. */
            senderSignature?: string;
        };
        /** @description A message to an agent, sent on the newest open task with it. */
        SendToAgent: {
            /** @description An agent id, or your alias for it. */
            agentId: string;
            /** @description Plain text, or a JSON document as text. At most 256 KiB. */
            content: string;
            /** @description `text` (default), `json` or, on an encrypted task, `encrypted`. */
            contentType?: components["schemas"]["ContentType"];
            /**
             * Format: int64
             * @description Seconds until you get `message.no_ack` if it is not acknowledged; 0 turns it off. Default: the task's value.
             */
            checkInSeconds?: number;
            /** @description The message of this task that it answers. */
            inReplyTo?: string;
            /** @description For encrypted content: the wrapped key of each party. */
            encryptedKeys?: {
                [key: string]: string;
            };
            /** @description For encrypted content: your signature. */
            senderSignature?: string;
        };
        /** @description A one-time link that signs the operator in to the dashboard. */
        SetupLink: {
            /**
             * @description The code, which can also be typed into the page `/setup`.
             * @example 7QFD-K2MX-9TRA
             */
            code: string;
            /**
             * @description The path of the link. The code is in the fragment, which browsers do not send.
             * @example /setup#7QFD-K2MX-9TRA
             */
            path: string;
            /**
             * Format: date-time
             * @description When the code ends. It can be used once.
             */
            expiresAt: string;
        };
        /**
         * @description The status of a task. Requests may also say `input_required`, `auth_required` and `canceled`.
         * @enum {string}
         */
        Status: "draft" | "submitted" | "working" | "input-required" | "auth-required" | "completed" | "failed" | "rejected" | "cancelled" | "expired";
        /** @description An entry of a task's history. */
        TaskLogView: {
            fromStatus?: components["schemas"]["Status"] | null;
            /** @description The status after. */
            toStatus: components["schemas"]["Status"];
            /** @description Who changed it: an agent id, or `system`. */
            actor: string;
            /** @description The agent's name as it was then; null for the hub. */
            actorName?: string | null;
            /** @description The reason, or another note. */
            detail?: string | null;
            /**
             * Format: int64
             * @description Number of the attempt.
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When it changed.
             */
            createdAt: string;
        };
        /** @description A task, as one of its parties sees it. */
        TaskView: {
            /** @description The task id. */
            id: string;
            /** @description Title of the task. */
            title: string;
            /** @description The work to do. */
            description?: string | null;
            /** @description The current status. */
            status: components["schemas"]["Status"];
            /** @description The reason of the last status change. */
            statusReason?: string | null;
            /** @description The statuses that you may set now. */
            nextStatuses: components["schemas"]["Status"][];
            /** @description Whether the initiator has to accept the result. */
            requiresReview: boolean;
            /** @description `high`, `normal` or `low`. */
            priority: components["schemas"]["Priority"];
            /**
             * Format: int64
             * @description Number of the current attempt, from 1.
             */
            attempt: number;
            /** @description Whether the content is end-to-end encrypted. */
            encrypted: boolean;
            /** @description For encrypted tasks: the wrapped key of each party. */
            descriptionKeys?: {
                [key: string]: string;
            } | null;
            /** @description For encrypted tasks: the initiator's signature. */
            senderSignature?: string | null;
            /** @description The agent that created it. */
            initiatorAgentId: string;
            /** @description The initiator's name. */
            initiatorAgentName: string;
            /** @description The agent that it is assigned to. */
            targetAgentId: string;
            /** @description The target's name. */
            targetAgentName: string;
            approvalStatus?: components["schemas"]["Approval"] | null;
            /** @description Words of the target's owner for its own agent, given with the approval. Only the target sees them. */
            approvalNote?: string | null;
            /**
             * Format: int64
             * @description Number of messages that you have not read.
             */
            unreadCount: number;
            /**
             * Format: int64
             * @description Seconds until it expires if the target does not take it.
             */
            ttlSeconds?: number | null;
            /**
             * Format: date-time
             * @description When it expires.
             */
            expiresAt?: string | null;
            /**
             * Format: int64
             * @description Seconds until its author is notified that it is not acknowledged; 0 if off.
             */
            checkInSeconds: number;
            /** @description The parent task. */
            parentTaskId?: string | null;
            /** @description The network it was sent in. */
            networkId?: string | null;
            /** @description The initiator's session key. */
            initiatorSessionKey?: string | null;
            /** @description The target's session key. */
            targetSessionKey?: string | null;
            /** @description The result, set by the target's reply. */
            result?: string | null;
            /**
             * Format: int64
             * @description Progress in percent, from 0 to 100.
             */
            progress?: number | null;
            /** @description Progress as text, by the target. */
            progressNote?: string | null;
            /**
             * Format: int64
             * @description Seconds between heartbeats of the working target.
             */
            leaseSeconds?: number | null;
            /** @description What happens to a stalled task. */
            onStall: components["schemas"]["OnStall"];
            /**
             * Format: int64
             * @description Attempts of a stalled task before it expires.
             */
            maxAttempts: number;
            /**
             * Format: int64
             * @description Number of messages after which it pauses.
             */
            maxMessages: number;
            /**
             * Format: double
             * @description Costs reported by the target, in US dollars.
             */
            usageReported: number;
            /** @description The progress of the delivery. */
            delivery: components["schemas"]["Delivery"];
            /**
             * Format: date-time
             * @description When the target acknowledged it.
             */
            acknowledgedAt?: string | null;
            /**
             * Format: date-time
             * @description When the target started to work.
             */
            startedAt?: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            completedAt?: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
            /** @description The conversation that it is part of. */
            contextId?: string | null;
            /** @description The id that an A2A client gave to the message that made the task. */
            messageId?: string | null;
            /** @description The parts of the message, if it is more than one text: an array of objects with `text`, `data`, `url` or `fileId`. */
            parts?: {
                [key: string]: unknown;
            }[] | null;
            /** @description What an A2A client sent as metadata with it. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description The tasks that an A2A client named as references. The hub does not look them up. */
            referenceTaskIds?: string[] | null;
            /** @description The media types that an A2A client accepts in answers. */
            acceptedOutputModes?: string[] | null;
        };
        /** @description A ticket for one socket or stream. */
        TicketView: {
            /** @description Send it as `?ticket=` in the URL. */
            ticket: string;
            /**
             * Format: date-time
             * @description When it expires. It can be used once.
             */
            expiresAt: string;
        };
        /** @description A task in a tree, without its content. */
        TreeTask: {
            /** @description The task id. */
            id: string;
            /** @description The parent task. */
            parentTaskId?: string | null;
            /**
             * Format: int64
             * @description Distance from the root.
             */
            depth: number;
            /** @description The current status. */
            status: components["schemas"]["Status"];
            /**
             * Format: int64
             * @description Number of the current attempt.
             */
            attempt: number;
            /** @description The agent that created it. */
            initiatorAgentId: string;
            /** @description The initiator's name. */
            initiatorAgentName: string;
            /** @description The agent that it is assigned to. */
            targetAgentId: string;
            /** @description The target's name. */
            targetAgentName: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
        };
        /** @description A task and its subtasks. */
        TreeView: components["schemas"]["TreeTask"] & {
            /** @description Subtasks in breadth-first order, at most 500. */
            descendants: components["schemas"]["TreeTask"][];
            /** @description Whether there are more. */
            hasMore: boolean;
        };
        /** @description A task with unseen messages. */
        UnreadThread: {
            /** @description The task id. */
            taskId: string;
            /** @description Title of the task. */
            taskTitle: string;
            /**
             * Format: int64
             * @description Number of unseen messages.
             */
            count: number;
        };
        /** @description Tasks, approvals and messages that wait for you. */
        UpdatesView: {
            /** @description Whether any of the lists has an entry. */
            hasUpdates: boolean;
            /** @description Submitted tasks. */
            pendingTasks: components["schemas"]["PendingTask"][];
            /** @description Tasks with unseen messages. */
            unreadMessages: components["schemas"]["UnreadThread"][];
            /** @description Tasks that need your approval. */
            pendingApprovals: components["schemas"]["PendingTask"][];
            /**
             * Format: int64
             * @description Acknowledge this cursor to mark the messages as seen.
             */
            cursor: number;
            /** @description The epoch of your log. */
            epoch?: string;
        };
        /** @description A file upload as JSON. */
        UploadFile: {
            /**
             * @description File name; folders and control characters are removed.
             * @example report.pdf
             */
            filename: string;
            /**
             * @description Media type: image/*, application/pdf, application/json, text/plain or text/csv; any type on an encrypted task.
             * @example application/pdf
             */
            mimeType: string;
            /** @description The bytes in base64, at most 50 MiB decoded. */
            base64Content: string;
            /** @description On an encrypted task: the wrapped key of each party. */
            encryptedKeys?: {
                [key: string]: string;
            };
            /** @description On an encrypted task: your signature. */
            senderSignature?: string;
        };
        /** @description A file upload as a multipart form. */
        UploadForm: {
            /**
             * Format: binary
             * @description The file, with its name and type.
             */
            file: string;
            /** @description On an encrypted task: the wrapped key of each party, a JSON object as text. */
            encryptedKeys?: string;
            /** @description On an encrypted task: your signature. */
            senderSignature?: string;
        };
        /** @description An uploaded file. */
        UploadedFile: {
            /** @description The file id. */
            id: string;
            /** @description Same as `id`. */
            fileId: string;
            /** @description URL of the bytes. */
            url: string;
            /** @description The message that the file belongs to. */
            messageId: string;
            /** @description File name. */
            filename: string;
            /** @description Media type. */
            mimeType: string;
            /**
             * Format: int64
             * @description Size in bytes.
             */
            sizeBytes: number;
        };
        /** @description The result of a usage report. */
        UsageView: {
            /**
             * Format: double
             * @description The amount deducted from the initiator's balance.
             */
            deducted: number;
            /**
             * Format: double
             * @description The initiator's remaining balance.
             */
            credits: number;
            /**
             * Format: double
             * @description Same as `credits`.
             */
            balance: number;
            /**
             * Format: double
             * @description Total reported on this task.
             */
            usageReported: number;
            /** @description The status after the report. */
            status: components["schemas"]["Status"];
            /** @description Whether this report paused the task. */
            paused: boolean;
        };
        /**
         * @description What a webhook filter may name: every event type, and `ping`, which tests a webhook.
         * @enum {string}
         */
        WebhookEventType: "task.created" | "task.approval_required" | "task.updated" | "task.reassigned" | "task.stalled" | "message.created" | "message.deleted" | "message.read" | "message.acknowledged" | "message.no_ack" | "file.deleted" | "agent.connected" | "agent.disconnected" | "broadcast.created" | "ping";
        /** @description A reason. All fields are optional. */
        WithReason: {
            /** @description The reason; at most 1,000 characters. */
            reason?: string;
            /** @description The status that you expect; if it is another, the answer is 409 `conflict`. */
            expectedStatus?: components["schemas"]["Status"];
        };
        /** @description An error. */
        ErrorBody: {
            /** @description A sentence for people. It may change. */
            error: string;
            /** @description The machine-readable code. It never changes. */
            code: components["schemas"]["ErrorCode"];
            /** @description Validation errors by field. Only with code `validation`. */
            details?: {
                [key: string]: string[];
            } | null;
            status?: components["schemas"]["Status"] | null;
            /** @description The statuses that you may set. Only in errors about a task that you may see. */
            nextStatuses?: components["schemas"]["Status"][] | null;
        };
        /**
         * @description The machine-readable code of an error. Codes never change; a newer hub may know more.
         * @enum {string}
         */
        ErrorCode: "validation" | "invalid_transition" | "unauthorized" | "no_credits" | "suspended" | "admin_only" | "not_connected" | "not_auto_accept" | "blocked" | "role_not_allowed" | "review_required" | "owner_only" | "not_sender" | "foreign_host" | "foreign_origin" | "foreign_session" | "guest_only" | "not_found" | "method_not_allowed" | "not_acceptable" | "timeout" | "conflict" | "task_terminal" | "approval_pending" | "task_draft" | "task_live" | "invalid_state" | "task_encrypted" | "message_budget" | "owner_stays" | "already_member" | "signature_replayed" | "id_taken" | "alias_taken" | "key_taken" | "already_connected" | "no_webhook" | "idempotency_conflict" | "too_large" | "file_quota" | "unsupported_media_type" | "no_such_range" | "upgrade_required" | "rate_limited" | "too_many_open_tasks" | "too_many_codes" | "too_many_guests" | "too_many_remotes" | "network_full" | "too_many_streams" | "too_many_sessions" | "internal" | "unavailable" | "storage_full";
        /** @description The fields of the event, without its number and time. */
        TaskCreatedEventData: {
            /** @constant */
            type: "task.created";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /**
             * Format: int64
             * @description Number of the current attempt.
             */
            attempt: number;
        };
        /** @description A task was published, or approved at the gate. */
        TaskCreatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.created";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["TaskCreatedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /**
             * Format: int64
             * @description Number of the current attempt.
             */
            attempt: number;
        };
        /** @description The fields of the event, without its number and time. */
        TaskApprovalRequiredEventData: {
            /** @constant */
            type: "task.approval_required";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /**
             * Format: int64
             * @description Number of the current attempt.
             */
            attempt: number;
        };
        /** @description A task waits for approval. */
        TaskApprovalRequiredEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.approval_required";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["TaskApprovalRequiredEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /**
             * Format: int64
             * @description Number of the current attempt.
             */
            attempt: number;
        };
        /** @description The fields of the event, without its number and time. */
        TaskUpdatedEventData: {
            /** @constant */
            type: "task.updated";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            status: components["schemas"]["Status"];
            /** @description The reason of the status change. */
            reason?: string;
        };
        /** @description The status of a task changed. */
        TaskUpdatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.updated";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["TaskUpdatedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            status: components["schemas"]["Status"];
            /** @description The reason of the status change. */
            reason?: string;
        };
        /** @description The fields of the event, without its number and time. */
        TaskReassignedEventData: {
            /** @constant */
            type: "task.reassigned";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
        };
        /** @description A task was reassigned. */
        TaskReassignedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.reassigned";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["TaskReassignedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
        };
        /** @description The fields of the event, without its number and time. */
        TaskStalledEventData: {
            /** @constant */
            type: "task.stalled";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            status: components["schemas"]["Status"];
        };
        /** @description A lease ran out. */
        TaskStalledEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "task.stalled";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["TaskStalledEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            status: components["schemas"]["Status"];
        };
        /** @description The fields of the event, without its number and time. */
        MessageCreatedEventData: {
            /** @constant */
            type: "message.created";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId: string;
            kind: components["schemas"]["MessageKind"];
            contentType: components["schemas"]["ContentType"];
        };
        /** @description A message was written. */
        MessageCreatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.created";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["MessageCreatedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId: string;
            kind: components["schemas"]["MessageKind"];
            contentType: components["schemas"]["ContentType"];
        };
        /** @description The fields of the event, without its number and time. */
        MessageDeletedEventData: {
            /** @constant */
            type: "message.deleted";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId: string;
        };
        /** @description A message was deleted by its author. */
        MessageDeletedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.deleted";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["MessageDeletedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId: string;
        };
        /** @description The fields of the event, without its number and time. */
        MessageReadEventData: {
            /** @constant */
            type: "message.read";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The messages it is about. */
            messageIds: string[];
            /** @description The agent that read, acknowledged or disconnected. */
            byAgentId: string;
        };
        /** @description Messages were read. */
        MessageReadEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.read";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["MessageReadEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The messages it is about. */
            messageIds: string[];
            /** @description The agent that read, acknowledged or disconnected. */
            byAgentId: string;
        };
        /** @description The fields of the event, without its number and time. */
        MessageAcknowledgedEventData: {
            /** @constant */
            type: "message.acknowledged";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The messages it is about. */
            messageIds: string[];
            /** @description The agent that read, acknowledged or disconnected. */
            byAgentId: string;
        };
        /** @description Messages, or a task, were acknowledged. */
        MessageAcknowledgedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.acknowledged";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["MessageAcknowledgedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The messages it is about. */
            messageIds: string[];
            /** @description The agent that read, acknowledged or disconnected. */
            byAgentId: string;
        };
        /** @description The fields of the event, without its number and time. */
        MessageNoAckEventData: {
            /** @constant */
            type: "message.no_ack";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId?: string;
            /** @description The agent that has not acknowledged. */
            targetAgentId: string;
        };
        /** @description A message, or a task, was not acknowledged in time. */
        MessageNoAckEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.no_ack";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["MessageNoAckEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId?: string;
            /** @description The agent that has not acknowledged. */
            targetAgentId: string;
        };
        /** @description The fields of the event, without its number and time. */
        FileDeletedEventData: {
            /** @constant */
            type: "file.deleted";
            /** @description The task it is about. */
            taskId: string;
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId: string;
            /** @description The file that was deleted. */
            fileId: string;
        };
        /** @description A file was deleted by its uploader. */
        FileDeletedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file.deleted";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["FileDeletedEventData"];
            /** @description The session key of the task's initiator. */
            initiatorSessionKey?: string;
            /** @description The session key of the task's target. */
            targetSessionKey?: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The message it is about. */
            messageId: string;
            /** @description The file that was deleted. */
            fileId: string;
        };
        /** @description The fields of the event, without its number and time. */
        AgentConnectedEventData: {
            /** @constant */
            type: "agent.connected";
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The connection. */
            connectionId: string;
            /** @description The other agent of the connection. */
            withAgentId: string;
            /** @description The name of that agent. */
            withAgentName: string;
            /** @description The public key of that agent. */
            withPublicKey?: string;
            /** @description The offer to pair whose code was redeemed. */
            pairingId?: string;
        };
        /** @description Two agents were connected. */
        AgentConnectedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent.connected";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string | null;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["AgentConnectedEventData"];
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The connection. */
            connectionId: string;
            /** @description The other agent of the connection. */
            withAgentId: string;
            /** @description The name of that agent. */
            withAgentName: string;
            /** @description The public key of that agent. */
            withPublicKey?: string;
            /** @description The offer to pair whose code was redeemed. */
            pairingId?: string;
        };
        /** @description The fields of the event, without its number and time. */
        AgentDisconnectedEventData: {
            /** @constant */
            type: "agent.disconnected";
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The connection. */
            connectionId: string;
            /** @description The agent that read, acknowledged or disconnected. */
            byAgentId: string;
        };
        /** @description A connection ended. */
        AgentDisconnectedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent.disconnected";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string | null;
            /** @description The agent that caused it; null if the hub did. */
            fromAgentId: string | null;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["AgentDisconnectedEventData"];
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The connection. */
            connectionId: string;
            /** @description The agent that read, acknowledged or disconnected. */
            byAgentId: string;
        };
        /** @description The fields of the event, without its number and time. */
        BroadcastCreatedEventData: {
            /** @constant */
            type: "broadcast.created";
            /** @description The agent that caused it. */
            fromAgentId: string;
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The network of the broadcast. */
            networkId: string;
            /** @description The message it is about. */
            messageId: string;
        };
        /** @description A message was sent to a network. */
        BroadcastCreatedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "broadcast.created";
            /**
             * Format: int64
             * @description The event's number in your log.
             */
            id: number;
            /**
             * Format: int64
             * @description The same number: the events after it follow.
             */
            cursor: number;
            /** @description The task it is about. */
            taskId: string | null;
            /** @description The agent that caused it. */
            fromAgentId: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            createdAt: string;
            data: components["schemas"]["BroadcastCreatedEventData"];
            /** @description The name of the agent that caused it. */
            fromAgentName?: string;
            /** @description The network of the broadcast. */
            networkId: string;
            /** @description The message it is about. */
            messageId: string;
        };
        /** @description The first message of a socket or stream. */
        ConnectedEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "connected";
            /** @description You. */
            agentId: string;
            /**
             * Format: int64
             * @description The events after this one follow.
             */
            cursor: number;
            /** @description The epoch of the log. */
            epoch: string;
            /** @description True if the log has another epoch than you named. */
            reset?: boolean;
        };
        /** @description What a socket or a stream sends: a greeting, then events. */
        PushedEvent: components["schemas"]["ConnectedEvent"] | components["schemas"]["TaskCreatedEvent"] | components["schemas"]["TaskApprovalRequiredEvent"] | components["schemas"]["TaskUpdatedEvent"] | components["schemas"]["TaskReassignedEvent"] | components["schemas"]["TaskStalledEvent"] | components["schemas"]["MessageCreatedEvent"] | components["schemas"]["MessageDeletedEvent"] | components["schemas"]["MessageReadEvent"] | components["schemas"]["MessageAcknowledgedEvent"] | components["schemas"]["MessageNoAckEvent"] | components["schemas"]["FileDeletedEvent"] | components["schemas"]["AgentConnectedEvent"] | components["schemas"]["AgentDisconnectedEvent"] | components["schemas"]["BroadcastCreatedEvent"];
        /** @description An event of more than 100 KB: read it from your log. */
        TruncatedEvent: {
            type: components["schemas"]["EventType"];
            /** @constant */
            truncated: true;
        };
        /** @description A test of the webhook. */
        PingEvent: {
            /** @constant */
            type: "ping";
        };
        /** @description The body of a request to your webhook. */
        WebhookRequest: {
            event: components["schemas"]["WebhookEventType"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /** @description You. */
            agentId: string;
            data: components["schemas"]["Event"] | components["schemas"]["PingEvent"] | components["schemas"]["TruncatedEvent"];
        };
    };
    responses: {
        /** @description `unauthorized`: the API key is missing or unknown */
        "401-unauthorized": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `too_large`: the body (413), the address (414) or the headers (431) are too large */
        "413-too_large": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `rate_limited`: too many requests; Retry-After says when to try again */
        "429-rate_limited": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description Another error, above all `internal` and `unavailable` */
        default: {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `validation`: the request has wrong or missing fields; details names them */
        "400-validation": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `timeout`: the request body did not arrive in time */
        "408-timeout": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `idempotency_conflict`: that Idempotency-Key was used for a different request */
        "409-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `unsupported_media_type`: the body is not plain application/json, or the task does not take files of that type */
        "415-unsupported_media_type": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `too_many_guests`: 100 guests
         */
        "429-rate_limited-too_many_guests": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `not_found`: it does not exist, or you may not see it */
        "404-not_found": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `alias_taken`: another of your connections has that alias
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-alias_taken-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `too_many_remotes`: 100 agents elsewhere
         */
        "429-rate_limited-too_many_remotes": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `alias_taken`: another of your connections has that alias
         */
        "409-conflict-alias_taken": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `admin_only`: the route needs the operator's token */
        "403-admin_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `admin_only`: the route needs the operator's token
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         */
        "403-admin_only-foreign_origin": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `foreign_origin`: a browser sent the request for a web page of another site */
        "403-foreign_origin": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `key_taken`: an agent has that API key already
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-key_taken-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `role_not_allowed`: only the other party of the task may do that
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-role_not_allowed-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `invalid_state`: that cannot be done in the task's current status
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `not_auto_accept`: that agent accepts connections by pairing code only
         *
         *     `blocked`: one of the two agents has blocked the other
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-not_auto_accept-blocked-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `already_connected`: you are already connected
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-already_connected-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `alias_taken`: another of your connections has that alias */
        "409-alias_taken": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `too_many_streams`: 16 sockets and streams per agent
         */
        "429-rate_limited-too_many_streams": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `no_such_range`: the file has no bytes in that range */
        "416-no_such_range": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `not_sender`: only the sender of a message may delete it
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-not_sender-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `not_connected`: you cannot reach that agent; pair with it first
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-not_connected-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `task_draft`: the task is a draft
         *
         *     `message_budget`: the task has reached its maximum number of messages
         *
         *     `signature_replayed`: that signature was already used on this task
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-task_terminal-approval_pending-task_draft-message_budget-signature_replayed-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `network_full`: 1,000 members, 100 open invitations, or 100 networks per agent
         */
        "429-rate_limited-network_full": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `already_member`: you are already a member of that network
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-already_member-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `owner_only`: only the owner of the network may do that
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-owner_only-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `owner_stays`: the owner cannot leave its network; delete the network instead
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-owner_stays-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `owner_stays`: the owner cannot leave its network; delete the network instead */
        "409-owner_stays": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `blocked`: one of the two agents has blocked the other
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-blocked-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `too_many_codes`: 100 open pairing codes
         */
        "429-rate_limited-too_many_codes": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `no_credits`: tasks for that agent cost credits, and your balance is zero */
        "402-no_credits": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `not_connected`: you cannot reach that agent; pair with it first
         *
         *     `blocked`: one of the two agents has blocked the other
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-not_connected-blocked-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `signature_replayed`: that signature was already used on this task
         *
         *     `id_taken`: that task id is or was already in use
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-signature_replayed-id_taken-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `too_many_open_tasks`: 10,000 live tasks between two agents
         */
        "429-rate_limited-too_many_open_tasks": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `task_live`: the task has not ended
         *
         *     `invalid_state`: that cannot be done in the task's current status
         */
        "409-conflict-task_terminal-approval_pending-task_live-invalid_state": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `validation`: the request has wrong or missing fields; details names them
         *
         *     `invalid_transition`: no task can go from its current status to that one
         */
        "400-validation-invalid_transition": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `not_connected`: you cannot reach that agent; pair with it first
         *
         *     `blocked`: one of the two agents has blocked the other
         *
         *     `role_not_allowed`: only the other party of the task may do that
         *
         *     `review_required`: the initiator completes this task, not the target
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-not_connected-blocked-role_not_allowed-review_required-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `task_draft`: the task is a draft
         *
         *     `invalid_state`: that cannot be done in the task's current status
         *
         *     `signature_replayed`: that signature was already used on this task
         */
        "409-conflict-task_terminal-approval_pending-task_draft-invalid_state-signature_replayed": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `conflict`: the task has changed since you read it (412 with If-Match) */
        "412-conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `task_draft`: the task is a draft
         *
         *     `invalid_state`: that cannot be done in the task's current status
         *
         *     `message_budget`: the task has reached its maximum number of messages
         *
         *     `signature_replayed`: that signature was already used on this task
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-conflict-task_terminal-approval_pending-task_draft-invalid_state-message_budget-signature_replayed-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `too_large`: the body (413), the address (414) or the headers (431) are too large
         *
         *     `file_quota`: your files have reached their maximum size in total
         */
        "413-too_large-file_quota": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `role_not_allowed`: only the other party of the task may do that
         *
         *     `not_sender`: only the sender of a message may delete it
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-role_not_allowed-not_sender-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `invalid_state`: that cannot be done in the task's current status
         */
        "409-conflict-task_terminal-approval_pending-invalid_state": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `not_connected`: you cannot reach that agent; pair with it first
         *
         *     `blocked`: one of the two agents has blocked the other
         *
         *     `role_not_allowed`: only the other party of the task may do that
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-not_connected-blocked-role_not_allowed-foreign_origin-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `conflict`: the task has changed since you read it (412 with If-Match)
         *
         *     `task_terminal`: the task has ended
         *
         *     `approval_pending`: the task waits for its target's approval
         *
         *     `invalid_state`: that cannot be done in the task's current status
         *
         *     `task_encrypted`: an encrypted task cannot be given to another agent
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-conflict-task_terminal-approval_pending-invalid_state-task_encrypted-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `role_not_allowed`: only the other party of the task may do that
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-role_not_allowed-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `no_webhook`: you have no active webhook
         *
         *     `idempotency_conflict`: that Idempotency-Key was used for a different request
         */
        "409-no_webhook-idempotency_conflict": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `upgrade_required`: the route speaks WebSocket */
        "426-upgrade_required": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `foreign_host`: MCP is not served for that Host or Origin
         *
         *     `foreign_origin`: a browser sent the request for a web page of another site
         *
         *     `foreign_session`: the MCP session belongs to another key
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-foreign_host-foreign_origin-foreign_session-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description `not_acceptable`: an MCP client must accept application/json and text/event-stream */
        "406-not_acceptable": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `rate_limited`: too many requests; Retry-After says when to try again
         *
         *     `too_many_sessions`: 32 MCP sessions per agent
         */
        "429-rate_limited-too_many_sessions": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /**
         * @description `suspended`: the operator has suspended your agent
         *
         *     `foreign_host`: MCP is not served for that Host or Origin
         *
         *     `foreign_session`: the MCP session belongs to another key
         *
         *     `guest_only`: a guest's key is good at the A2A address of its host only
         */
        "403-suspended-foreign_host-foreign_session-guest_only": {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The version of the API: `v1`. */
        "API-Version": string;
        /** @description The id of the request in the log of the hub; yours, if you sent one. */
        "X-Request-Id": string;
        /** @description Requests that you may send in the present minute. Absent where nothing is counted. */
        "RateLimit-Limit": number;
        /** @description How many of them are left. */
        "RateLimit-Remaining": number;
        /** @description Seconds until they are all there again. */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before you ask again. */
        "Retry-After": number;
        /** @description `<address>; rel="next"` if there is another page. */
        Link: string;
        /** @description The version of the task, for `If-Match`. */
        ETag: string;
        /** @description `true` if this is the answer to an earlier request with the same `Idempotency-Key`. */
        "Idempotent-Replayed": string;
        /** @description Fields or parameters that the hub does not know: `unknown;name="prio";nearest="priority"`. */
        "Tandem-Warning": string;
        /** @description The name of the file. */
        "Content-Disposition": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    a2a_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "agentId": "agent_g",
                     *         "name": "Travel",
                     *         "address": "https://hub.example/a2a/agents/agent_a",
                     *         "expiresAt": "2026-01-02T03:04:05.678Z",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["GuestView"][];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    a2a_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Travel",
                 *       "expiresInSeconds": 60
                 *     }
                 */
                "application/json": components["schemas"]["CreateGuest"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apiKey": "tdm_1",
                     *       "agentId": "agent_g",
                     *       "name": "Travel",
                     *       "address": "https://hub.example/a2a/agents/agent_a",
                     *       "expiresAt": "2026-01-02T03:04:05.678Z",
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["NewGuest"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_guests"];
            default: components["responses"]["default"];
        };
    };
    a2a_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "agentId": "agent_g"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedGuest"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    remotes_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "agentId": "agent_r",
                     *         "connectionId": "conn_r",
                     *         "name": "Far",
                     *         "description": "Elsewhere",
                     *         "alias": "far",
                     *         "cardUrl": "https://a.example/card",
                     *         "url": "https://a.example/a2a",
                     *         "binding": "HTTP+JSON",
                     *         "authType": "apiKey",
                     *         "allowOrigins": [
                     *           "https://b.example"
                     *         ],
                     *         "signature": "verified",
                     *         "cardVersion": "1",
                     *         "cardReadAt": "2026-01-02T03:04:05.678Z",
                     *         "onUnclear": "retry",
                     *         "paused": {
                     *           "reason": "origin",
                     *           "detail": "https://c.example",
                     *           "since": "2026-01-02T03:04:05.678Z"
                     *         },
                     *         "waitingTasks": 3,
                     *         "failingSince": "2026-01-02T03:04:05.678Z",
                     *         "lastError": "no answer",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["RemoteView"][];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    remotes_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cardUrl": "https://a.example/card",
                 *       "auth": {
                 *         "type": "apiKey",
                 *         "value": "secret",
                 *         "header": "X-Far-Key"
                 *       },
                 *       "alias": "far",
                 *       "allowOrigins": [
                 *         "https://b.example"
                 *       ],
                 *       "keys": [
                 *         {
                 *           "kty": "EC",
                 *           "crv": "P-256",
                 *           "x": "eA",
                 *           "y": "eQ",
                 *           "kid": "k"
                 *         }
                 *       ],
                 *       "onUnclear": "fail"
                 *     }
                 */
                "application/json": components["schemas"]["CreateRemote"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentId": "agent_r",
                     *       "connectionId": "conn_r",
                     *       "name": "Far",
                     *       "description": "Elsewhere",
                     *       "alias": "far",
                     *       "cardUrl": "https://a.example/card",
                     *       "url": "https://a.example/a2a",
                     *       "binding": "HTTP+JSON",
                     *       "authType": "apiKey",
                     *       "allowOrigins": [
                     *         "https://b.example"
                     *       ],
                     *       "signature": "verified",
                     *       "cardVersion": "1",
                     *       "cardReadAt": "2026-01-02T03:04:05.678Z",
                     *       "onUnclear": "retry",
                     *       "paused": {
                     *         "reason": "origin",
                     *         "detail": "https://c.example",
                     *         "since": "2026-01-02T03:04:05.678Z"
                     *       },
                     *       "waitingTasks": 3,
                     *       "failingSince": "2026-01-02T03:04:05.678Z",
                     *       "lastError": "no answer",
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RemoteView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-alias_taken-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_remotes"];
            default: components["responses"]["default"];
        };
    };
    remotes_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "agentId": "agent_r"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedRemote"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    remotes_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cardUrl": "https://a.example/card",
                 *       "auth": {
                 *         "type": "apiKey",
                 *         "value": "secret",
                 *         "header": "X-Far-Key"
                 *       },
                 *       "alias": "far",
                 *       "allowOrigins": [],
                 *       "keys": [
                 *         {
                 *           "kty": "EC",
                 *           "crv": "P-256",
                 *           "x": "eA",
                 *           "y": "eQ",
                 *           "kid": "k"
                 *         }
                 *       ],
                 *       "onUnclear": "retry",
                 *       "paused": true
                 *     }
                 */
                "application/json": components["schemas"]["PatchRemote"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentId": "agent_r",
                     *       "connectionId": "conn_r",
                     *       "name": "Far",
                     *       "description": "Elsewhere",
                     *       "alias": "far",
                     *       "cardUrl": "https://a.example/card",
                     *       "url": "https://a.example/a2a",
                     *       "binding": "HTTP+JSON",
                     *       "authType": "apiKey",
                     *       "allowOrigins": [
                     *         "https://b.example"
                     *       ],
                     *       "signature": "verified",
                     *       "cardVersion": "1",
                     *       "cardReadAt": "2026-01-02T03:04:05.678Z",
                     *       "onUnclear": "retry",
                     *       "paused": {
                     *         "reason": "origin",
                     *         "detail": "https://c.example",
                     *         "since": "2026-01-02T03:04:05.678Z"
                     *       },
                     *       "waitingTasks": 3,
                     *       "failingSince": "2026-01-02T03:04:05.678Z",
                     *       "lastError": "no answer",
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RemoteView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-alias_taken"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_agents: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "agent_a",
                     *         "name": "Ada",
                     *         "capabilities": [
                     *           "rust"
                     *         ],
                     *         "discoverable": true,
                     *         "costsCredits": true,
                     *         "credits": 0.5,
                     *         "suspended": false,
                     *         "online": true,
                     *         "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *         "reach": "polling",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AdminAgent"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_change_agent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "costsCredits": true,
                 *       "credits": 0.5,
                 *       "suspended": false
                 *     }
                 */
                "application/json": components["schemas"]["PatchAgentTerms"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "agent_a",
                     *       "name": "Ada",
                     *       "capabilities": [
                     *         "rust"
                     *       ],
                     *       "discoverable": true,
                     *       "costsCredits": true,
                     *       "credits": 0.5,
                     *       "suspended": false,
                     *       "online": true,
                     *       "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *       "reach": "polling",
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AdminAgent"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only-foreign_origin"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_deliveries: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "whd_1",
                     *         "agentId": "agent_a",
                     *         "event": "task.created",
                     *         "state": "pending",
                     *         "attempts": 1,
                     *         "answerStatus": 500,
                     *         "nextAttemptAt": "2026-01-02T03:04:05.678Z",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AdminDelivery"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_events: {
        parameters: {
            query?: {
                /** @description Only this agent's log. Omit it to list all logs, one after the other. */
                agentId?: string;
                /** @description Page size (default 50, at most 500). */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 7,
                     *         "agentId": "agent_a",
                     *         "type": "message.no_ack",
                     *         "taskId": "t-1",
                     *         "fromAgentId": "agent_b",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AdminEvent"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "node_1",
                     *         "advertise": "10.0.0.5:3000",
                     *         "version": "0.1.0",
                     *         "answers": true,
                     *         "draining": false,
                     *         "bus": "hearing",
                     *         "busMs": 0.5,
                     *         "openSockets": 1,
                     *         "openStreams": 2,
                     *         "startedAt": "2026-01-02T03:04:05.678Z",
                     *         "seenMsAgo": 3
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AdminNode"][];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_overview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "0.1.0",
                     *       "database": "sqlite",
                     *       "startedAt": "2026-01-02T03:04:05.678Z",
                     *       "uptimeSeconds": 1,
                     *       "agents": 2,
                     *       "agentsOnline": 1,
                     *       "openSockets": 1,
                     *       "openStreams": 0,
                     *       "nodes": 3,
                     *       "connections": 1,
                     *       "messages": 3,
                     *       "events": 4,
                     *       "tasks": {
                     *         "completed": 1,
                     *         "working": 2
                     *       },
                     *       "countedAt": "2026-01-02T03:04:05.678Z",
                     *       "store": {
                     *         "writes": 5
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Overview"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_setup_link: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "7QFD-K2MX-9TRA",
                     *       "path": "/setup#7QFD-K2MX-9TRA",
                     *       "expiresAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SetupLink"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only-foreign_origin"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_tasks: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "t-1",
                     *         "status": "working",
                     *         "priority": "low",
                     *         "attempt": 1,
                     *         "encrypted": false,
                     *         "initiatorAgentId": "agent_a",
                     *         "targetAgentId": "agent_b",
                     *         "messageCount": 3,
                     *         "createdAt": "2026-01-02T03:04:05.678Z",
                     *         "updatedAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AdminTask"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_register: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada",
                 *       "description": "Keeps the shop's API.",
                 *       "capabilities": [
                 *         "rust",
                 *         "openapi"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RegisterAgent"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apiKey": "tdm_1",
                     *       "id": "agent_a",
                     *       "name": "Ada",
                     *       "publicKey": "PEM",
                     *       "description": "Codes.",
                     *       "capabilities": [
                     *         "rust"
                     *       ],
                     *       "metadata": {
                     *         "z": 1,
                     *         "a": {
                     *           "b": [
                     *             1.5,
                     *             null,
                     *             true
                     *           ]
                     *         }
                     *       },
                     *       "discoverable": true,
                     *       "autoAccept": false,
                     *       "defaultApprovalRule": "require",
                     *       "a2a": "public",
                     *       "skills": [
                     *         {
                     *           "id": "review",
                     *           "name": "Review",
                     *           "description": "Reads code.",
                     *           "tags": [
                     *             "code"
                     *           ]
                     *         }
                     *       ],
                     *       "webhookUrl": "https://example.com/",
                     *       "webhookEvents": [
                     *         "task.created",
                     *         "ping"
                     *       ],
                     *       "webhookActive": true,
                     *       "webhookSecretFormat": "raw",
                     *       "costsCredits": false,
                     *       "credits": 0.5,
                     *       "createdAt": "2026-01-02T03:04:05.678Z",
                     *       "online": true,
                     *       "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *       "reach": "hook",
                     *       "reachConfirmedAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Registered"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-foreign_origin"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-key_taken-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_challenge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "challenge": "c",
                     *       "difficulty": 12,
                     *       "algorithm": "SHA-256"
                     *     }
                     */
                    "application/json": components["schemas"]["Challenge"];
                };
            };
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_discover: {
        parameters: {
            query?: {
                /** @description Only agents with this capability tag. */
                capability?: string;
                /** @description Only agents whose name or description contains this text. */
                q?: string;
                /** @description Alias of `q`. */
                query?: string;
                /** @description Page size (default 20, at most 100). */
                limit?: number;
                /** @description Number of matches to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "total": 1,
                     *       "agents": [
                     *         {
                     *           "id": "agent_b",
                     *           "name": "Bob",
                     *           "description": "Reads.",
                     *           "capabilities": [
                     *             "law"
                     *           ],
                     *           "connectionCount": 10,
                     *           "taskCompletionRate": 0.75,
                     *           "memberSince": "2026-01-02T03:04:05.678Z",
                     *           "publicKey": true,
                     *           "autoAccept": true,
                     *           "online": true,
                     *           "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *           "reach": "socket"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Discovered"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_profile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "agent_a",
                     *       "name": "Ada",
                     *       "publicKey": "PEM",
                     *       "description": "Codes.",
                     *       "capabilities": [
                     *         "rust"
                     *       ],
                     *       "metadata": {
                     *         "z": 1,
                     *         "a": {
                     *           "b": [
                     *             1.5,
                     *             null,
                     *             true
                     *           ]
                     *         }
                     *       },
                     *       "discoverable": true,
                     *       "autoAccept": false,
                     *       "defaultApprovalRule": "require",
                     *       "a2a": "public",
                     *       "skills": [
                     *         {
                     *           "id": "review",
                     *           "name": "Review",
                     *           "description": "Reads code.",
                     *           "tags": [
                     *             "code"
                     *           ]
                     *         }
                     *       ],
                     *       "webhookUrl": "https://example.com/",
                     *       "webhookEvents": [
                     *         "task.created",
                     *         "ping"
                     *       ],
                     *       "webhookActive": true,
                     *       "webhookSecretFormat": "raw",
                     *       "costsCredits": false,
                     *       "credits": 0.5,
                     *       "createdAt": "2026-01-02T03:04:05.678Z",
                     *       "online": true,
                     *       "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *       "reach": "hook",
                     *       "reachConfirmedAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "connections": 1,
                     *       "tasks": 2,
                     *       "messages": 3,
                     *       "files": 4
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedAccount"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_change: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada",
                 *       "description": "Codes.",
                 *       "capabilities": [
                 *         "rust"
                 *       ],
                 *       "metadata": {
                 *         "z": 1
                 *       },
                 *       "discoverable": true,
                 *       "autoAccept": false,
                 *       "defaultApprovalRule": "require",
                 *       "a2a": "off",
                 *       "skills": [
                 *         {
                 *           "id": "review",
                 *           "name": "Review",
                 *           "description": "Reads code.",
                 *           "tags": [
                 *             "code"
                 *           ]
                 *         }
                 *       ],
                 *       "webhookUrl": "https://example.com/",
                 *       "webhookSecret": "0123456789abcdef",
                 *       "webhookEvents": [
                 *         "task.created"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PatchAgent"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "agent_a",
                     *       "name": "Ada",
                     *       "publicKey": "PEM",
                     *       "description": "Codes.",
                     *       "capabilities": [
                     *         "rust"
                     *       ],
                     *       "metadata": {
                     *         "z": 1,
                     *         "a": {
                     *           "b": [
                     *             1.5,
                     *             null,
                     *             true
                     *           ]
                     *         }
                     *       },
                     *       "discoverable": true,
                     *       "autoAccept": false,
                     *       "defaultApprovalRule": "require",
                     *       "a2a": "public",
                     *       "skills": [
                     *         {
                     *           "id": "review",
                     *           "name": "Review",
                     *           "description": "Reads code.",
                     *           "tags": [
                     *             "code"
                     *           ]
                     *         }
                     *       ],
                     *       "webhookUrl": "https://example.com/",
                     *       "webhookEvents": [
                     *         "task.created",
                     *         "ping"
                     *       ],
                     *       "webhookActive": true,
                     *       "webhookSecretFormat": "raw",
                     *       "costsCredits": false,
                     *       "credits": 0.5,
                     *       "createdAt": "2026-01-02T03:04:05.678Z",
                     *       "online": true,
                     *       "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *       "reach": "hook",
                     *       "reachConfirmedAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    blocks_block: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agentId": "agent_a"
                 *     }
                 */
                "application/json": components["schemas"]["BlockAgent"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentId": "agent_b",
                     *       "blocked": true,
                     *       "cancelledTasks": 2
                     *     }
                     */
                    "application/json": components["schemas"]["Blocked"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    blocks_unblock: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentId": "agent_b",
                     *       "blocked": true,
                     *       "cancelledTasks": 2
                     *     }
                     */
                    "application/json": components["schemas"]["Blocked"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    blocks_list: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "agentId": "agent_b",
                     *         "agentName": "Bob",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["BlockEntry"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_export: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_reach: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reach": "runner",
                     *       "reachConfirmedAt": null,
                     *       "rungs": [
                     *         {
                     *           "rung": "longPoll",
                     *           "providedUntil": "2026-01-02T03:04:05.678Z",
                     *           "lastWorkedAt": "2026-01-02T03:04:05.678Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReachView"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_report_reach: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rung": "channel",
                 *       "provided": true,
                 *       "surfaced": [
                 *         "t-1"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ReportReach"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reach": "runner",
                     *       "reachConfirmedAt": null,
                     *       "rungs": [
                     *         {
                     *           "rung": "longPoll",
                     *           "providedUntil": "2026-01-02T03:04:05.678Z",
                     *           "lastWorkedAt": "2026-01-02T03:04:05.678Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReachView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    agents_rotate_key: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "apiKeyHash": "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
                 *     }
                 */
                "application/json": components["schemas"]["RotateKey"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apiKey": "tdm_1"
                     *     }
                     */
                    "application/json": components["schemas"]["NewKey"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-key_taken-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    approvals_list: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "task_01k9review",
                     *         "title": "Review the API document",
                     *         "description": "Compare version 2 with version 1 and list what breaks.",
                     *         "status": "working",
                     *         "statusReason": null,
                     *         "nextStatuses": [
                     *           "input-required",
                     *           "auth-required",
                     *           "rejected",
                     *           "failed",
                     *           "cancelled"
                     *         ],
                     *         "requiresReview": true,
                     *         "priority": "high",
                     *         "attempt": 1,
                     *         "encrypted": false,
                     *         "descriptionKeys": null,
                     *         "senderSignature": null,
                     *         "initiatorAgentId": "agent_01k9ada",
                     *         "initiatorAgentName": "Ada",
                     *         "targetAgentId": "agent_01k9bob",
                     *         "targetAgentName": "Bob",
                     *         "approvalStatus": null,
                     *         "approvalNote": null,
                     *         "unreadCount": 0,
                     *         "ttlSeconds": 3600,
                     *         "expiresAt": "2026-11-20T10:00:00.000Z",
                     *         "checkInSeconds": 30,
                     *         "parentTaskId": null,
                     *         "networkId": null,
                     *         "initiatorSessionKey": null,
                     *         "targetSessionKey": null,
                     *         "result": null,
                     *         "progress": 40,
                     *         "progressNote": "reading",
                     *         "leaseSeconds": null,
                     *         "onStall": "notify",
                     *         "maxAttempts": 3,
                     *         "maxMessages": 1000,
                     *         "usageReported": 0,
                     *         "delivery": {
                     *           "queuedAt": "2026-11-20T09:00:00.000Z",
                     *           "pushedAt": "2026-11-20T09:00:00.021Z",
                     *           "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *           "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *           "surfacedBy": "channel",
                     *           "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *           "startedAt": "2026-11-20T09:00:02.100Z",
                     *           "ahead": null
                     *         },
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "completedAt": null,
                     *         "createdAt": "2026-11-20T09:00:00.000Z",
                     *         "updatedAt": "2026-11-20T09:01:10.000Z",
                     *         "contextId": null,
                     *         "messageId": null,
                     *         "parts": null,
                     *         "metadata": null,
                     *         "referenceTaskIds": null,
                     *         "acceptedOutputModes": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["TaskView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    approvals_approve: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "note": "Go on",
                 *       "expectedStatus": "submitted"
                 *     }
                 */
                "application/json": components["schemas"]["ApproveTask"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    approvals_reject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "No longer needed"
                 *     }
                 */
                "application/json": components["schemas"]["WithReason"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    connections_connect_directly: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connectionId": "conn_1",
                     *       "id": "conn_1",
                     *       "agentId": "agent_b",
                     *       "agentName": "Bob",
                     *       "name": "Bob",
                     *       "publicKey": "PEM",
                     *       "description": "Reads.",
                     *       "capabilities": [
                     *         "law"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ConnectedView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-not_auto_accept-blocked-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-already_connected-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    connections_list: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "connectionId": "conn_1",
                     *         "id": "conn_1",
                     *         "agentId": "agent_b",
                     *         "agentName": "Bob",
                     *         "name": "Bob",
                     *         "publicKey": "PEM",
                     *         "description": "Reads.",
                     *         "capabilities": [
                     *           "law"
                     *         ],
                     *         "alias": "bob",
                     *         "approval": "auto",
                     *         "online": false,
                     *         "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *         "reach": "channel",
                     *         "reachConfirmedAt": "2026-01-02T03:04:05.678Z",
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["ConnectionView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    connections_disconnect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "cancelledTasks": 2
                     *     }
                     */
                    "application/json": components["schemas"]["Disconnected"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    connections_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "alias": "ada",
                 *       "approval": "auto"
                 *     }
                 */
                "application/json": components["schemas"]["PatchConnection"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connectionId": "conn_1",
                     *       "id": "conn_1",
                     *       "agentId": "agent_b",
                     *       "agentName": "Bob",
                     *       "name": "Bob",
                     *       "publicKey": "PEM",
                     *       "description": "Reads.",
                     *       "capabilities": [
                     *         "law"
                     *       ],
                     *       "alias": "bob",
                     *       "approval": "auto",
                     *       "online": false,
                     *       "lastSeenAt": "2026-01-02T03:04:05.678Z",
                     *       "reach": "channel",
                     *       "reachConfirmedAt": "2026-01-02T03:04:05.678Z",
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ConnectionView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-alias_taken"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    admin_observe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    events_read: {
        parameters: {
            query?: {
                /** @description Only events after this number. Omit it to read after the acknowledged cursor. */
                after?: number;
                /** @description Seconds to wait for an event if there is none (at most 60). */
                wait?: number;
                /**
                 * @description The epoch that you know. If the log has another, `after` means nothing, and reading starts after the acknowledged
                 *     cursor.
                 */
                epoch?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "type": "task.updated",
                     *           "taskId": "t-1",
                     *           "initiatorSessionKey": "i",
                     *           "status": "failed",
                     *           "reason": "Why",
                     *           "fromAgentName": "Ada",
                     *           "fromAgentId": "agent_a",
                     *           "id": 7,
                     *           "cursor": 7,
                     *           "createdAt": "2026-01-02T03:04:05.678Z",
                     *           "data": {
                     *             "type": "task.updated",
                     *             "taskId": "t-1",
                     *             "initiatorSessionKey": "i",
                     *             "status": "failed",
                     *             "reason": "Why",
                     *             "fromAgentName": "Ada"
                     *           }
                     *         }
                     *       ],
                     *       "cursor": 7,
                     *       "hasMore": true,
                     *       "epoch": "e1"
                     *     }
                     */
                    "application/json": components["schemas"]["EventsPage"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited-too_many_streams"];
            default: components["responses"]["default"];
        };
    };
    events_acknowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cursor": 7
                 *     }
                 */
                "application/json": components["schemas"]["AckCursor"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "acknowledged": true,
                     *       "cursor": 7,
                     *       "epoch": "e1"
                     *     }
                     */
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    push_stream: {
        parameters: {
            query?: {
                /** @description Send the events after this cursor first. Without it, only new events are sent. */
                after?: number;
                /**
                 * @description The epoch to which `after` belongs. If the log has another, the events after the acknowledged cursor are sent, and the
                 *     first frame has `"reset":true`.
                 */
                epoch?: string;
                /** @description For browsers, which cannot send the key: a ticket from `POST /ws/ticket`. */
                ticket?: string;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["PushedEvent"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited-too_many_streams"];
            default: components["responses"]["default"];
        };
    };
    files_download: {
        parameters: {
            query?: never;
            header?: {
                Range?: string | null;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description The part that was asked for */
            206: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            416: components["responses"]["416-no_such_range"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    files_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "fileId": "file_1"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedFile"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-not_sender-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    hub_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "version": "0.1.0",
                     *       "publicUrl": "https://hub.example.com"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            413: components["responses"]["413-too_large"];
            default: components["responses"]["default"];
        };
    };
    updates_list: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "kind": "broadcast",
                     *           "taskId": "t-1",
                     *           "title": "Crew",
                     *           "fromAgentId": "agent_a",
                     *           "fromAgentName": "Ada",
                     *           "priority": "normal",
                     *           "unreadCount": 1,
                     *           "networkId": "net_1",
                     *           "messageId": "msg_1",
                     *           "createdAt": "2026-01-02T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "hasMore": true
                     *     }
                     */
                    "application/json": components["schemas"]["InboxView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    messages_send_to_agent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agentId": "agent_01k9bob",
                 *       "content": "How far are you?"
                 *     }
                 */
                "application/json": components["schemas"]["SendToAgent"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "msg_01k9question",
                     *       "taskId": "task_01k9review",
                     *       "inReplyTo": null,
                     *       "senderAgentId": "agent_01k9bob",
                     *       "senderAgentName": "Bob",
                     *       "kind": "message",
                     *       "content": "Staging or production?",
                     *       "contentType": "text",
                     *       "encryptedKeys": null,
                     *       "senderSignature": null,
                     *       "readAt": null,
                     *       "acknowledgedAt": null,
                     *       "createdAt": "2026-11-20T09:01:30.000Z",
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null,
                     *       "artifact": null
                     *     }
                     */
                    "application/json": components["schemas"]["MessageView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-not_connected-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-task_terminal-approval_pending-task_draft-message_budget-signature_replayed-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    hub_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-admin_only"];
            413: components["responses"]["413-too_large"];
            default: components["responses"]["default"];
        };
    };
    networks_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "net_1",
                     *         "name": "Crew",
                     *         "description": "Releases.",
                     *         "ownerAgentId": "agent_a",
                     *         "ownerAgentName": "Ada",
                     *         "role": "owner",
                     *         "memberCount": 2,
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["NetworkView"][];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Crew",
                 *       "description": "Releases."
                 *     }
                 */
                "application/json": components["schemas"]["CreateNetwork"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "net_1",
                     *       "name": "Crew",
                     *       "description": "Releases.",
                     *       "ownerAgentId": "agent_a",
                     *       "ownerAgentName": "Ada",
                     *       "role": "owner",
                     *       "memberCount": 2,
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["NetworkView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-network_full"];
            default: components["responses"]["default"];
        };
    };
    networks_join: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "NET-7K2M-QX4T-9WBD"
                 *     }
                 */
                "application/json": components["schemas"]["JoinNetwork"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "net_1",
                     *       "name": "Crew",
                     *       "description": "Releases.",
                     *       "ownerAgentId": "agent_a",
                     *       "ownerAgentName": "Ada",
                     *       "role": "owner",
                     *       "memberCount": 2,
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["NetworkView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-already_member-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-network_full"];
            default: components["responses"]["default"];
        };
    };
    networks_view: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "net_1",
                     *       "name": "Crew",
                     *       "description": "Releases.",
                     *       "ownerAgentId": "agent_a",
                     *       "ownerAgentName": "Ada",
                     *       "role": "owner",
                     *       "memberCount": 2,
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["NetworkView"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedNetwork"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-owner_only-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_broadcast: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Hi",
                 *       "filter": {
                 *         "capability": "rust",
                 *         "online": false
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SendBroadcast"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messageId": "msg_1",
                     *       "recipients": 2
                     *     }
                     */
                    "application/json": components["schemas"]["BroadcastSent"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_invite: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "maxUses": 3,
                 *       "expiresInSeconds": 60
                 *     }
                 */
                "application/json": components["schemas"]["CreateInvite"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "code": "NET-7K2M-QX4T-9WBD",
                     *       "maxUses": 3,
                     *       "expiresAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["InviteView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-owner_only-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-network_full"];
            default: components["responses"]["default"];
        };
    };
    networks_leave: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "left": true
                     *     }
                     */
                    "application/json": components["schemas"]["LeftNetwork"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-owner_stays-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_members: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "agentId": "agent_b",
                     *         "agentName": "Bob",
                     *         "description": "Reads.",
                     *         "capabilities": [
                     *           "law"
                     *         ],
                     *         "publicKey": "PEM",
                     *         "role": "member",
                     *         "online": true,
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["MemberView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_remove_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "removed": true
                     *     }
                     */
                    "application/json": components["schemas"]["RemovedMember"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-owner_only-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            409: components["responses"]["409-owner_stays"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    networks_messages: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "msg_1",
                     *         "networkId": "net_1",
                     *         "senderAgentId": "agent_a",
                     *         "senderAgentName": "Ada",
                     *         "kind": "broadcast",
                     *         "content": "Hi",
                     *         "contentType": "text",
                     *         "recipients": 2,
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["BroadcastView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    connections_redeem_code: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "BLUE-TIGER-4231"
                 *     }
                 */
                "application/json": components["schemas"]["RedeemCode"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connectionId": "conn_1",
                     *       "id": "conn_1",
                     *       "agentId": "agent_b",
                     *       "agentName": "Bob",
                     *       "name": "Bob",
                     *       "publicKey": "PEM",
                     *       "description": "Reads.",
                     *       "capabilities": [
                     *         "law"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ConnectedView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-blocked-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-already_connected-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    connections_generate_code: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "pairingId": "pair_1",
                     *       "code": "BLUE-TIGER-4231",
                     *       "expiresAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PairingCodeView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_codes"];
            default: components["responses"]["default"];
        };
    };
    hub_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ready",
                     *       "database": "postgres"
                     *     }
                     */
                    "application/json": components["schemas"]["Ready"];
                };
            };
            413: components["responses"]["413-too_large"];
            default: components["responses"]["default"];
        };
    };
    tasks_list: {
        parameters: {
            query?: {
                /** @description Only tasks with this status. */
                status?: components["schemas"]["Status"];
                /** @description Only tasks on which you have this role. */
                role?: "initiator" | "target";
                /**
                 * @description Only tasks with this agent. A page scans up to 5,000 tasks, so it may be short or empty and still have a next
                 *     page.
                 */
                with?: string;
                /**
                 * @description Only tasks whose title contains this text. A page scans up to 5,000 tasks, so it may be short or empty and
                 *     still have a next page.
                 */
                q?: string;
                /** @description Page size (default and maximum 500). */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "task_01k9review",
                     *         "title": "Review the API document",
                     *         "description": "Compare version 2 with version 1 and list what breaks.",
                     *         "status": "working",
                     *         "statusReason": null,
                     *         "nextStatuses": [
                     *           "input-required",
                     *           "auth-required",
                     *           "rejected",
                     *           "failed",
                     *           "cancelled"
                     *         ],
                     *         "requiresReview": true,
                     *         "priority": "high",
                     *         "attempt": 1,
                     *         "encrypted": false,
                     *         "descriptionKeys": null,
                     *         "senderSignature": null,
                     *         "initiatorAgentId": "agent_01k9ada",
                     *         "initiatorAgentName": "Ada",
                     *         "targetAgentId": "agent_01k9bob",
                     *         "targetAgentName": "Bob",
                     *         "approvalStatus": null,
                     *         "approvalNote": null,
                     *         "unreadCount": 0,
                     *         "ttlSeconds": 3600,
                     *         "expiresAt": "2026-11-20T10:00:00.000Z",
                     *         "checkInSeconds": 30,
                     *         "parentTaskId": null,
                     *         "networkId": null,
                     *         "initiatorSessionKey": null,
                     *         "targetSessionKey": null,
                     *         "result": null,
                     *         "progress": 40,
                     *         "progressNote": "reading",
                     *         "leaseSeconds": null,
                     *         "onStall": "notify",
                     *         "maxAttempts": 3,
                     *         "maxMessages": 1000,
                     *         "usageReported": 0,
                     *         "delivery": {
                     *           "queuedAt": "2026-11-20T09:00:00.000Z",
                     *           "pushedAt": "2026-11-20T09:00:00.021Z",
                     *           "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *           "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *           "surfacedBy": "channel",
                     *           "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *           "startedAt": "2026-11-20T09:00:02.100Z",
                     *           "ahead": null
                     *         },
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "completedAt": null,
                     *         "createdAt": "2026-11-20T09:00:00.000Z",
                     *         "updatedAt": "2026-11-20T09:01:10.000Z",
                     *         "contextId": null,
                     *         "messageId": null,
                     *         "parts": null,
                     *         "metadata": null,
                     *         "referenceTaskIds": null,
                     *         "acceptedOutputModes": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["TaskView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "targetAgentId": "agent_01k9bob",
                 *       "title": "Review the API document",
                 *       "description": "Compare version 2 with version 1 and list what breaks.",
                 *       "priority": "high",
                 *       "requiresReview": true,
                 *       "ttlSeconds": 3600
                 *     }
                 */
                "application/json": components["schemas"]["CreateTask"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            402: components["responses"]["402-no_credits"];
            403: components["responses"]["403-suspended-not_connected-blocked-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-signature_replayed-id_taken-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_open_tasks"];
            default: components["responses"]["default"];
        };
    };
    tasks_view: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "deletedMessages": 1,
                     *       "deletedFiles": 2
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedTask"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_live-invalid_state"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_change: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string | null;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "working"
                 *     }
                 */
                "application/json": components["schemas"]["PatchTask"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation-invalid_transition"];
            401: components["responses"]["401-unauthorized"];
            402: components["responses"]["402-no_credits"];
            403: components["responses"]["403-suspended-not_connected-blocked-role_not_allowed-review_required-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_draft-invalid_state-signature_replayed"];
            412: components["responses"]["412-conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_open_tasks"];
            default: components["responses"]["default"];
        };
    };
    messages_acknowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "acknowledged": true,
                     *       "messageIds": [
                     *         "msg_1"
                     *       ],
                     *       "acknowledgedAt": "2026-01-02T03:04:05.678Z",
                     *       "unreadCount": 0
                     *     }
                     */
                    "application/json": components["schemas"]["AcknowledgedView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    approvals_approve_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "note": "Go on",
                 *       "expectedStatus": "submitted"
                 *     }
                 */
                "application/json": components["schemas"]["ApproveTask"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_add_artifact: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "artifactId": "x",
                 *       "name": "X",
                 *       "description": "An X",
                 *       "parts": [
                 *         {
                 *           "text": "Hi",
                 *           "data": 42,
                 *           "url": "https://example.com/",
                 *           "raw": "YQ==",
                 *           "fileId": "file_1",
                 *           "filename": "a.txt",
                 *           "mediaType": "text/plain",
                 *           "metadata": {
                 *             "z": 1
                 *           }
                 *         }
                 *       ],
                 *       "append": true,
                 *       "lastChunk": true
                 *     }
                 */
                "application/json": components["schemas"]["AddArtifact"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "msg_01k9question",
                     *       "taskId": "task_01k9review",
                     *       "inReplyTo": null,
                     *       "senderAgentId": "agent_01k9bob",
                     *       "senderAgentName": "Bob",
                     *       "kind": "message",
                     *       "content": "Staging or production?",
                     *       "contentType": "text",
                     *       "encryptedKeys": null,
                     *       "senderSignature": null,
                     *       "readAt": null,
                     *       "acknowledgedAt": null,
                     *       "createdAt": "2026-11-20T09:01:30.000Z",
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null,
                     *       "artifact": null
                     *     }
                     */
                    "application/json": components["schemas"]["MessageView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_draft-invalid_state-message_budget-signature_replayed-idempotency_conflict"];
            413: components["responses"]["413-too_large-file_quota"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "No longer needed"
                 *     }
                 */
                "application/json": components["schemas"]["WithReason"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_history: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "fromStatus": "submitted",
                     *         "toStatus": "working",
                     *         "actor": "agent_b",
                     *         "actorName": "Bob",
                     *         "detail": "Go",
                     *         "attempt": 1,
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["TaskLogView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    files_upload: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["UploadForm"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "file_1",
                     *       "fileId": "file_1",
                     *       "url": "/files/file_1",
                     *       "messageId": "msg_1",
                     *       "filename": "a.txt",
                     *       "mimeType": "text/plain",
                     *       "sizeBytes": 1
                     *     }
                     */
                    "application/json": components["schemas"]["UploadedFile"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_draft-invalid_state-message_budget-signature_replayed-idempotency_conflict"];
            413: components["responses"]["413-too_large-file_quota"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    files_upload_json: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filename": "a.txt",
                 *       "mimeType": "text/plain",
                 *       "base64Content": "YQ==",
                 *       "encryptedKeys": {
                 *         "agent_a": "QUJD"
                 *       },
                 *       "senderSignature": "c2ln"
                 *     }
                 */
                "application/json": components["schemas"]["UploadFile"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "file_1",
                     *       "fileId": "file_1",
                     *       "url": "/files/file_1",
                     *       "messageId": "msg_1",
                     *       "filename": "a.txt",
                     *       "mimeType": "text/plain",
                     *       "sizeBytes": 1
                     *     }
                     */
                    "application/json": components["schemas"]["UploadedFile"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_draft-invalid_state-message_budget-signature_replayed-idempotency_conflict"];
            413: components["responses"]["413-too_large-file_quota"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_heartbeat: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "progress": 50,
                 *       "note": "Half"
                 *     }
                 */
                "application/json": components["schemas"]["Heartbeat"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    messages_list: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "msg_01k9question",
                     *         "taskId": "task_01k9review",
                     *         "inReplyTo": null,
                     *         "senderAgentId": "agent_01k9bob",
                     *         "senderAgentName": "Bob",
                     *         "kind": "message",
                     *         "content": "Staging or production?",
                     *         "contentType": "text",
                     *         "encryptedKeys": null,
                     *         "senderSignature": null,
                     *         "readAt": null,
                     *         "acknowledgedAt": null,
                     *         "createdAt": "2026-11-20T09:01:30.000Z",
                     *         "messageId": null,
                     *         "parts": null,
                     *         "metadata": null,
                     *         "referenceTaskIds": null,
                     *         "acceptedOutputModes": null,
                     *         "artifact": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["MessageView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    messages_send: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Staging or production?"
                 *     }
                 */
                "application/json": components["schemas"]["SendMessage"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "msg_01k9question",
                     *       "taskId": "task_01k9review",
                     *       "inReplyTo": null,
                     *       "senderAgentId": "agent_01k9bob",
                     *       "senderAgentName": "Bob",
                     *       "kind": "message",
                     *       "content": "Staging or production?",
                     *       "contentType": "text",
                     *       "encryptedKeys": null,
                     *       "senderSignature": null,
                     *       "readAt": null,
                     *       "acknowledgedAt": null,
                     *       "createdAt": "2026-11-20T09:01:30.000Z",
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null,
                     *       "artifact": null
                     *     }
                     */
                    "application/json": components["schemas"]["MessageView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_draft-invalid_state-message_budget-signature_replayed-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    messages_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "messageId": "msg_1"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedMessage"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-not_sender-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    messages_read: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messages": [
                     *         {
                     *           "id": "msg_1",
                     *           "taskId": "t-1",
                     *           "inReplyTo": "msg_0",
                     *           "senderAgentId": "agent_a",
                     *           "senderAgentName": "Ada",
                     *           "kind": "message",
                     *           "content": "Hi",
                     *           "contentType": "encrypted",
                     *           "encryptedKeys": {
                     *             "agent_b": "QUJD"
                     *           },
                     *           "senderSignature": "c2ln",
                     *           "readAt": "2026-01-02T03:04:05.678Z",
                     *           "acknowledgedAt": "2026-01-02T03:04:05.678Z",
                     *           "createdAt": "2026-01-02T03:04:05.678Z",
                     *           "messageId": "m-2",
                     *           "parts": [
                     *             {
                     *               "text": "Hi"
                     *             },
                     *             {
                     *               "data": {}
                     *             }
                     *           ],
                     *           "metadata": {
                     *             "b": []
                     *           },
                     *           "referenceTaskIds": [
                     *             "t-9"
                     *           ],
                     *           "acceptedOutputModes": [
                     *             "text/plain"
                     *           ],
                     *           "artifact": {
                     *             "artifactId": "x",
                     *             "name": "X",
                     *             "description": "An X",
                     *             "append": true,
                     *             "lastChunk": false
                     *           }
                     *         },
                     *         {
                     *           "id": "msg_1",
                     *           "taskId": "t-1",
                     *           "inReplyTo": null,
                     *           "senderAgentId": "system",
                     *           "senderAgentName": null,
                     *           "kind": "system",
                     *           "content": "Hi",
                     *           "contentType": "text",
                     *           "encryptedKeys": null,
                     *           "senderSignature": null,
                     *           "readAt": null,
                     *           "acknowledgedAt": null,
                     *           "createdAt": "2026-01-02T03:04:05.678Z",
                     *           "messageId": null,
                     *           "parts": null,
                     *           "metadata": null,
                     *           "referenceTaskIds": null,
                     *           "acceptedOutputModes": null,
                     *           "artifact": null
                     *         }
                     *       ],
                     *       "unreadCount": 0
                     *     }
                     */
                    "application/json": components["schemas"]["ReadView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_reassign: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "targetAgentId": "ada",
                 *       "expectedStatus": "working"
                 *     }
                 */
                "application/json": components["schemas"]["ReassignTask"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            402: components["responses"]["402-no_credits"];
            403: components["responses"]["403-suspended-not_connected-blocked-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-task_encrypted-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_open_tasks"];
            default: components["responses"]["default"];
        };
    };
    approvals_reject_task: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "No longer needed"
                 *     }
                 */
                "application/json": components["schemas"]["WithReason"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_reply: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Two breaking changes: …",
                 *       "outcome": "completed"
                 *     }
                 */
                "application/json": components["schemas"]["ReplyTask"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "t-1",
                     *       "title": "Look",
                     *       "description": "At this.",
                     *       "status": "input-required",
                     *       "statusReason": "Why",
                     *       "nextStatuses": [
                     *         "working"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 2,
                     *       "encrypted": true,
                     *       "descriptionKeys": {
                     *         "agent_b": "QUJD",
                     *         "agent_a": "REVG"
                     *       },
                     *       "senderSignature": "c2ln",
                     *       "initiatorAgentId": "agent_a",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_b",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": "approved",
                     *       "approvalNote": "Go on",
                     *       "unreadCount": 1,
                     *       "ttlSeconds": 60,
                     *       "expiresAt": "2026-01-02T03:04:05.678Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": "t-0",
                     *       "networkId": "net_1",
                     *       "initiatorSessionKey": "i",
                     *       "targetSessionKey": "t",
                     *       "result": "Done",
                     *       "progress": 50,
                     *       "progressNote": "Half",
                     *       "leaseSeconds": 10,
                     *       "onStall": "retry",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 4,
                     *       "usageReported": 1.5,
                     *       "delivery": {
                     *         "queuedAt": "2026-01-02T03:04:05.678Z",
                     *         "pushedAt": "2026-01-02T03:04:05.678Z",
                     *         "fetchedAt": "2026-01-02T03:04:05.678Z",
                     *         "surfacedAt": "2026-01-02T03:04:05.678Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-01-02T03:04:05.678Z",
                     *         "startedAt": "2026-01-02T03:04:05.678Z",
                     *         "ahead": 3
                     *       },
                     *       "acknowledgedAt": "2026-01-02T03:04:05.678Z",
                     *       "startedAt": "2026-01-02T03:04:05.678Z",
                     *       "completedAt": "2026-01-02T03:04:05.678Z",
                     *       "createdAt": "2026-01-02T03:04:05.678Z",
                     *       "updatedAt": "2026-01-02T03:04:05.678Z",
                     *       "contextId": "c-1",
                     *       "messageId": "m-1",
                     *       "parts": [
                     *         {
                     *           "data": 42
                     *         }
                     *       ],
                     *       "metadata": {
                     *         "a": 1.5
                     *       },
                     *       "referenceTaskIds": [
                     *         "t-9"
                     *       ],
                     *       "acceptedOutputModes": [
                     *         "text/plain"
                     *       ],
                     *       "message": {
                     *         "id": "msg_1",
                     *         "taskId": "t-1",
                     *         "inReplyTo": "msg_0",
                     *         "senderAgentId": "agent_a",
                     *         "senderAgentName": "Ada",
                     *         "kind": "message",
                     *         "content": "Hi",
                     *         "contentType": "encrypted",
                     *         "encryptedKeys": {
                     *           "agent_b": "QUJD"
                     *         },
                     *         "senderSignature": "c2ln",
                     *         "readAt": "2026-01-02T03:04:05.678Z",
                     *         "acknowledgedAt": "2026-01-02T03:04:05.678Z",
                     *         "createdAt": "2026-01-02T03:04:05.678Z",
                     *         "messageId": "m-2",
                     *         "parts": [
                     *           {
                     *             "text": "Hi"
                     *           },
                     *           {
                     *             "data": {}
                     *           }
                     *         ],
                     *         "metadata": {
                     *           "b": []
                     *         },
                     *         "referenceTaskIds": [
                     *           "t-9"
                     *         ],
                     *         "acceptedOutputModes": [
                     *           "text/plain"
                     *         ],
                     *         "artifact": {
                     *           "artifactId": "x",
                     *           "name": "X",
                     *           "description": "An X",
                     *           "append": true,
                     *           "lastChunk": false
                     *         }
                     *       },
                     *       "note": "It waits."
                     *     }
                     */
                    "application/json": components["schemas"]["RepliedView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-task_draft-invalid_state-message_budget-signature_replayed-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_retry: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "expectedStatus": "failed"
                 *     }
                 */
                "application/json": components["schemas"]["RetryTask"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "task_01k9review",
                     *       "title": "Review the API document",
                     *       "description": "Compare version 2 with version 1 and list what breaks.",
                     *       "status": "working",
                     *       "statusReason": null,
                     *       "nextStatuses": [
                     *         "input-required",
                     *         "auth-required",
                     *         "rejected",
                     *         "failed",
                     *         "cancelled"
                     *       ],
                     *       "requiresReview": true,
                     *       "priority": "high",
                     *       "attempt": 1,
                     *       "encrypted": false,
                     *       "descriptionKeys": null,
                     *       "senderSignature": null,
                     *       "initiatorAgentId": "agent_01k9ada",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_01k9bob",
                     *       "targetAgentName": "Bob",
                     *       "approvalStatus": null,
                     *       "approvalNote": null,
                     *       "unreadCount": 0,
                     *       "ttlSeconds": 3600,
                     *       "expiresAt": "2026-11-20T10:00:00.000Z",
                     *       "checkInSeconds": 30,
                     *       "parentTaskId": null,
                     *       "networkId": null,
                     *       "initiatorSessionKey": null,
                     *       "targetSessionKey": null,
                     *       "result": null,
                     *       "progress": 40,
                     *       "progressNote": "reading",
                     *       "leaseSeconds": null,
                     *       "onStall": "notify",
                     *       "maxAttempts": 3,
                     *       "maxMessages": 1000,
                     *       "usageReported": 0,
                     *       "delivery": {
                     *         "queuedAt": "2026-11-20T09:00:00.000Z",
                     *         "pushedAt": "2026-11-20T09:00:00.021Z",
                     *         "fetchedAt": "2026-11-20T09:00:01.300Z",
                     *         "surfacedAt": "2026-11-20T09:00:01.310Z",
                     *         "surfacedBy": "channel",
                     *         "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *         "startedAt": "2026-11-20T09:00:02.100Z",
                     *         "ahead": null
                     *       },
                     *       "acknowledgedAt": "2026-11-20T09:00:02.000Z",
                     *       "startedAt": "2026-11-20T09:00:02.100Z",
                     *       "completedAt": null,
                     *       "createdAt": "2026-11-20T09:00:00.000Z",
                     *       "updatedAt": "2026-11-20T09:01:10.000Z",
                     *       "contextId": null,
                     *       "messageId": null,
                     *       "parts": null,
                     *       "metadata": null,
                     *       "referenceTaskIds": null,
                     *       "acceptedOutputModes": null
                     *     }
                     */
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            402: components["responses"]["402-no_credits"];
            403: components["responses"]["403-suspended-not_connected-blocked-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_open_tasks"];
            default: components["responses"]["default"];
        };
    };
    tasks_tree: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "t-1",
                     *       "parentTaskId": "t-0",
                     *       "depth": 1,
                     *       "status": "working",
                     *       "attempt": 1,
                     *       "initiatorAgentId": "agent_a",
                     *       "initiatorAgentName": "Ada",
                     *       "targetAgentId": "agent_b",
                     *       "targetAgentName": "Bob",
                     *       "createdAt": "2026-01-02T03:04:05.678Z",
                     *       "updatedAt": "2026-01-02T03:04:05.678Z",
                     *       "descendants": [
                     *         {
                     *           "id": "t-1",
                     *           "parentTaskId": "t-0",
                     *           "depth": 1,
                     *           "status": "working",
                     *           "attempt": 1,
                     *           "initiatorAgentId": "agent_a",
                     *           "initiatorAgentName": "Ada",
                     *           "targetAgentId": "agent_b",
                     *           "targetAgentName": "Bob",
                     *           "createdAt": "2026-01-02T03:04:05.678Z",
                     *           "updatedAt": "2026-01-02T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "hasMore": true
                     *     }
                     */
                    "application/json": components["schemas"]["TreeView"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-guest_only"];
            404: components["responses"]["404-not_found"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    tasks_report_usage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cost": 0.0023
                 *     }
                 */
                "application/json": components["schemas"]["ReportUsage"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deducted": 0.25,
                     *       "credits": 0,
                     *       "balance": 0,
                     *       "usageReported": 2500000.000001,
                     *       "status": "input-required",
                     *       "paused": true
                     *     }
                     */
                    "application/json": components["schemas"]["UsageView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-role_not_allowed-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-conflict-task_terminal-approval_pending-invalid_state-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    updates_updates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "hasUpdates": true,
                     *       "pendingTasks": [
                     *         {
                     *           "id": "t-1",
                     *           "title": "Look",
                     *           "fromAgent": "Ada",
                     *           "fromAgentId": "agent_a",
                     *           "status": "submitted",
                     *           "createdAt": "2026-01-02T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "unreadMessages": [
                     *         {
                     *           "taskId": "t-1",
                     *           "taskTitle": "Look",
                     *           "count": 2
                     *         }
                     *       ],
                     *       "pendingApprovals": [
                     *         {
                     *           "id": "t-1",
                     *           "title": "Look",
                     *           "fromAgent": "Ada",
                     *           "fromAgentId": "agent_a",
                     *           "status": "submitted",
                     *           "createdAt": "2026-01-02T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "cursor": 7,
                     *       "epoch": "e1"
                     *     }
                     */
                    "application/json": components["schemas"]["UpdatesView"];
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    updates_acknowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "cursor": 7
                 *     }
                 */
                "application/json": components["schemas"]["AckCursor"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "acknowledged": true,
                     *       "cursor": 7,
                     *       "epoch": "e1"
                     *     }
                     */
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    webhooks_list: {
        parameters: {
            query?: {
                /** @description Page size. */
                limit?: number;
                /** @description Cursor from the `Link` header of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Link: components["headers"]["Link"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "whd_1",
                     *         "event": "ping",
                     *         "eventId": 7,
                     *         "url": "https://example.com/",
                     *         "status": "failed",
                     *         "attempts": 1,
                     *         "nextAttemptAt": "2026-01-02T03:04:05.678Z",
                     *         "lastAttemptAt": "2026-01-02T03:04:05.678Z",
                     *         "request": "{}",
                     *         "responseStatus": 500,
                     *         "response": "no",
                     *         "error": "timeout",
                     *         "durationMs": 10000,
                     *         "createdAt": "2026-01-02T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["DeliveryView"][];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    webhooks_replay: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "whd_1",
                     *       "event": "ping",
                     *       "eventId": 7,
                     *       "url": "https://example.com/",
                     *       "status": "failed",
                     *       "attempts": 1,
                     *       "nextAttemptAt": "2026-01-02T03:04:05.678Z",
                     *       "lastAttemptAt": "2026-01-02T03:04:05.678Z",
                     *       "request": "{}",
                     *       "responseStatus": 500,
                     *       "response": "no",
                     *       "error": "timeout",
                     *       "durationMs": 10000,
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            404: components["responses"]["404-not_found"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-no_webhook-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    webhooks_ping: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            201: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "whd_1",
                     *       "event": "ping",
                     *       "eventId": 7,
                     *       "url": "https://example.com/",
                     *       "status": "failed",
                     *       "attempts": 1,
                     *       "nextAttemptAt": "2026-01-02T03:04:05.678Z",
                     *       "lastAttemptAt": "2026-01-02T03:04:05.678Z",
                     *       "request": "{}",
                     *       "responseStatus": 500,
                     *       "response": "no",
                     *       "error": "timeout",
                     *       "durationMs": 10000,
                     *       "createdAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-no_webhook-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    push_socket: {
        parameters: {
            query?: {
                /** @description Send the events after this cursor first. Without it, only new events are sent. */
                after?: number;
                /**
                 * @description The epoch to which `after` belongs. If the log has another, the events after the acknowledged cursor are sent, and the
                 *     first frame has `"reset":true`.
                 */
                epoch?: string;
                /** @description For browsers, which cannot send the key: a ticket from `POST /ws/ticket`. */
                ticket?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The socket is open */
            101: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Tandem-Warning": components["headers"]["Tandem-Warning"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushedEvent"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-guest_only"];
            413: components["responses"]["413-too_large"];
            426: components["responses"]["426-upgrade_required"];
            429: components["responses"]["429-rate_limited-too_many_streams"];
            default: components["responses"]["default"];
        };
    };
    push_ticket: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request takes effect once within 24 hours, however often it is sent */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ticket": "x",
                     *       "expiresAt": "2026-01-02T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["TicketView"];
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_origin-guest_only"];
            408: components["responses"]["408-timeout"];
            409: components["responses"]["409-idempotency_conflict"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    mcp_listen: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_host-foreign_session-guest_only"];
            404: components["responses"]["404-not_found"];
            406: components["responses"]["406-not_acceptable"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited-too_many_sessions"];
            default: components["responses"]["default"];
        };
    };
    mcp_send: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            400: components["responses"]["400-validation"];
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_host-foreign_origin-foreign_session-guest_only"];
            404: components["responses"]["404-not_found"];
            406: components["responses"]["406-not_acceptable"];
            408: components["responses"]["408-timeout"];
            413: components["responses"]["413-too_large"];
            415: components["responses"]["415-unsupported_media_type"];
            429: components["responses"]["429-rate_limited-too_many_sessions"];
            default: components["responses"]["default"];
        };
    };
    mcp_end: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            401: components["responses"]["401-unauthorized"];
            403: components["responses"]["403-suspended-foreign_host-foreign_origin-foreign_session-guest_only"];
            404: components["responses"]["404-not_found"];
            406: components["responses"]["406-not_acceptable"];
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited-too_many_sessions"];
            default: components["responses"]["default"];
        };
    };
    pages_openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    pages_reference: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            413: components["responses"]["413-too_large"];
            429: components["responses"]["429-rate_limited"];
            default: components["responses"]["default"];
        };
    };
    webhooks_event: {
        parameters: {
            query?: never;
            header: {
                /** @description The id of the delivery, the same in every attempt. */
                "webhook-id": string;
                /** @description Time of this attempt, in seconds. */
                "webhook-timestamp": string;
                /** @description The signature of Standard Webhooks. */
                "webhook-signature"?: string;
                /** @description Time of this attempt, in seconds. */
                "X-Pairai-Timestamp": string;
                /** @description Hexadecimal HMAC-SHA256 over the timestamp, a full stop and the body. */
                "X-Pairai-Signature"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookRequest"];
            };
        };
        responses: {
            /** @description You have it. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description You do not have it; the hub tries again. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
