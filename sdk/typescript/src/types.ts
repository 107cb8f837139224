// The wire types by their own names. They are generated from the hub's OpenAPI document.
import type { components } from "./generated/openapi.js";

export type Schemas = components["schemas"];
export type Status = Schemas["Status"];
export type ErrorCode = Schemas["ErrorCode"];
export type EventType = Schemas["EventType"];
export type Priority = Schemas["Priority"];
export type ErrorBody = Schemas["ErrorBody"];
export type TaskView = Schemas["TaskView"];
export type MessageView = Schemas["MessageView"];
export type ConnectionView = Schemas["ConnectionView"];
export type Profile = Schemas["Profile"];
export type CreateTask = Schemas["CreateTask"];
