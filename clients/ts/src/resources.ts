// Written by `make generate` from the contract.
import type { Call, Options, Pages } from "./call.js";
import type { components } from "./openapi.js";

type Schemas = components["schemas"];

export class DeadLetters {
  constructor(private readonly call: Call) {}

  /** Group the dead deliveries by cause. */
  analyse(tenant: string, options?: Options<"analyseDeadLetters">): Promise<Schemas["DeadLetterAnalysis"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/dead-letters/analysis", { tenant }, options);
  }

  /** List a tenant's dead letters. */
  list(tenant: string, options?: Options<"listDeadLetters">): Pages<Schemas["Delivery"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/dead-letters", { tenant }, options);
  }
}

export class Deliveries {
  constructor(private readonly call: Call) {}

  /** Cancel a delivery in progress. */
  cancel(tenant: string, delivery: string, body?: Schemas["CancelRequest"], options?: Options<"cancelDelivery">): Promise<Schemas["Delivery"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/cancel", { tenant, delivery }, options, body);
  }

  /** Discard a dead delivery. */
  discard(tenant: string, delivery: string, body: Schemas["DiscardRequest"], options?: Options<"discardDelivery">): Promise<Schemas["Delivery"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/discard", { tenant, delivery }, options, body);
  }

  /** Read a delivery with past and planned attempts. */
  get(tenant: string, delivery: string, options?: Options<"getDelivery">): Promise<Schemas["DeliveryDetail"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/deliveries/{delivery}", { tenant, delivery }, options);
  }

  /** List a tenant's deliveries. */
  list(tenant: string, options?: Options<"listDeliveries">): Pages<Schemas["Delivery"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/deliveries", { tenant }, options);
  }

  /** Replay a delivery. */
  replay(tenant: string, delivery: string, body?: Schemas["ReplayRequest"], options?: Options<"replayDelivery">): Promise<Schemas["Delivery"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/deliveries/{delivery}/replay", { tenant, delivery }, options, body);
  }
}

export class Endpoints {
  constructor(private readonly call: Call) {}

  /** Create an endpoint. */
  create(tenant: string, body: Schemas["EndpointCreate"], options?: Options<"createEndpoint">): Promise<Schemas["EndpointWithSecret"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints", { tenant }, options, body);
  }

  /** List the decisions about an endpoint. */
  decisions(tenant: string, endpoint: string, options?: Options<"listDecisions">): Pages<Schemas["Decision"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/decisions", { tenant, endpoint }, options);
  }

  /** Delete an endpoint. */
  delete(tenant: string, endpoint: string, options?: Options<"deleteEndpoint">): Promise<void> {
    return this.call.send("DELETE", "/v1/tenants/{tenant}/endpoints/{endpoint}", { tenant, endpoint }, options);
  }

  /** List an endpoint's deliveries. */
  deliveries(tenant: string, endpoint: string, options?: Options<"listEndpointDeliveries">): Pages<Schemas["Delivery"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries", { tenant, endpoint }, options);
  }

  /** Disable an endpoint. */
  disable(tenant: string, endpoint: string, options?: Options<"disableEndpoint">): Promise<Schemas["Endpoint"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/disable", { tenant, endpoint }, options);
  }

  /** Enable a disabled endpoint. */
  enable(tenant: string, endpoint: string, options?: Options<"enableEndpoint">): Promise<Schemas["Endpoint"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/enable", { tenant, endpoint }, options);
  }

  /** End the overlap of a rotation. */
  endOverlap(tenant: string, endpoint: string, options?: Options<"endOverlap">): Promise<Schemas["Endpoint"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/end-overlap", { tenant, endpoint }, options);
  }

  /** Read an endpoint and the state of the circuit. */
  get(tenant: string, endpoint: string, options?: Options<"getEndpoint">): Promise<Schemas["EndpointDetail"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}", { tenant, endpoint }, options);
  }

  /** Read the health of an endpoint. */
  health(tenant: string, endpoint: string, options?: Options<"getEndpointHealth">): Promise<Schemas["EndpointHealth"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/health", { tenant, endpoint }, options);
  }

  /** List endpoints. */
  list(tenant: string, options?: Options<"listEndpoints">): Pages<Schemas["Endpoint"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/endpoints", { tenant }, options);
  }

  /** Open an endpoint's circuit. */
  openCircuit(tenant: string, endpoint: string, options?: Options<"openCircuit">): Promise<Schemas["EndpointDetail"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/open", { tenant, endpoint }, options);
  }

  /** Pause an endpoint. */
  pause(tenant: string, endpoint: string, options?: Options<"pauseEndpoint">): Promise<Schemas["Endpoint"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/pause", { tenant, endpoint }, options);
  }

  /** Preview a request. */
  preview(tenant: string, endpoint: string, body: Schemas["PreviewRequest"], options?: Options<"previewEndpoint">): Promise<Schemas["Preview"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/preview", { tenant, endpoint }, options, body);
  }

  /** Probe an endpoint now. */
  probeCircuit(tenant: string, endpoint: string, options?: Options<"probeCircuit">): Promise<Schemas["EndpointDetail"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/probe", { tenant, endpoint }, options);
  }

  /** Close an endpoint's circuit. */
  resetCircuit(tenant: string, endpoint: string, options?: Options<"resetCircuit">): Promise<Schemas["EndpointDetail"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/reset", { tenant, endpoint }, options);
  }

  /** Resume a paused endpoint. */
  resume(tenant: string, endpoint: string, options?: Options<"resumeEndpoint">): Promise<Schemas["Endpoint"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/resume", { tenant, endpoint }, options);
  }

  /** Rotate the signing secret. */
  rotateSecret(tenant: string, endpoint: string, body?: Schemas["RotateRequest"], options?: Options<"rotateSecret">): Promise<Schemas["EndpointWithSecret"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/rotate-secret", { tenant, endpoint }, options, body);
  }

  /** Read the statistics of an endpoint. */
  stats(tenant: string, endpoint: string, options?: Options<"getEndpointStats">): Promise<Schemas["Stats"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/endpoints/{endpoint}/stats", { tenant, endpoint }, options);
  }

  /** Send a test event. */
  test(tenant: string, endpoint: string, body?: Schemas["TestRequest"], options?: Options<"testEndpoint">): Promise<Schemas["Accepted"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/endpoints/{endpoint}/test", { tenant, endpoint }, options, body);
  }

  /** Change an endpoint. */
  update(tenant: string, endpoint: string, body: Schemas["EndpointFields"], options?: Options<"changeEndpoint">): Promise<Schemas["Endpoint"]> {
    return this.call.send("PATCH", "/v1/tenants/{tenant}/endpoints/{endpoint}", { tenant, endpoint }, options, body);
  }
}

export class EventTypes {
  constructor(private readonly call: Call) {}

  /** Delete an event type. */
  delete(eventType: string, options?: Options<"deleteEventType">): Promise<void> {
    return this.call.send("DELETE", "/v1/event-types/{type}", { type: eventType }, options);
  }

  /** Read an event type. */
  get(eventType: string, options?: Options<"getEventType">): Promise<Schemas["EventType"]> {
    return this.call.send("GET", "/v1/event-types/{type}", { type: eventType }, options);
  }

  /** List event types. */
  list(options?: Options<"listEventTypes">): Pages<Schemas["EventType"]> {
    return this.call.pages("GET", "/v1/event-types", {}, options);
  }

  /** Create or replace an event type. */
  set(eventType: string, body: Schemas["EventTypeFields"], options?: Options<"putEventType">): Promise<Schemas["EventType"]> {
    return this.call.send("PUT", "/v1/event-types/{type}", { type: eventType }, options, body);
  }
}

export class Events {
  constructor(private readonly call: Call) {}

  /** List an event's attempts. */
  attempts(tenant: string, event: string, options?: Options<"listEventAttempts">): Pages<Schemas["Attempt"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/events/{event}/attempts", { tenant, event }, options);
  }

  /** Post an event. */
  create(tenant: string, body: Schemas["EventRequest"], options?: Options<"postEvent">): Promise<Schemas["Accepted"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/events", { tenant }, options, body);
  }

  /** Post up to 100 events. */
  createBatch(tenant: string, body: Schemas["BatchRequest"], options?: Options<"postEvents">): Promise<Schemas["BatchResult"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/events/batch", { tenant }, options, body);
  }

  /** List an event's deliveries. */
  deliveries(tenant: string, event: string, options?: Options<"listEventDeliveries">): Pages<Schemas["Delivery"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/events/{event}/deliveries", { tenant, event }, options);
  }

  /** Erase the payload of an event. */
  erasePayload(tenant: string, event: string, options?: Options<"erasePayload">): Promise<void> {
    return this.call.send("DELETE", "/v1/tenants/{tenant}/events/{event}/payload", { tenant, event }, options);
  }

  /** Read an event with the payload. */
  get(tenant: string, event: string, options?: Options<"getEvent">): Promise<Schemas["Event"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/events/{event}", { tenant, event }, options);
  }

  /** List a tenant's events. */
  list(tenant: string, options?: Options<"listEvents">): Pages<Schemas["EventSummary"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/events", { tenant }, options);
  }

  /** Replay all deliveries of an event. */
  replay(tenant: string, event: string, body?: Schemas["ReplayRequest"], options?: Options<"replayEvent">): Promise<Schemas["EventReplay"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/events/{event}/replay", { tenant, event }, options, body);
  }
}

export class Keys {
  constructor(private readonly call: Call) {}

  /** Read who calls. */
  caller(options?: Options<"getCaller">): Promise<Schemas["Caller"]> {
    return this.call.send("GET", "/v1/caller", {}, options);
  }

  /** Create an API key. */
  create(body: Schemas["KeyCreate"], options?: Options<"createKey">): Promise<Schemas["KeyWithText"]> {
    return this.call.send("POST", "/v1/keys", {}, options, body);
  }

  /** List API keys. */
  list(options?: Options<"listKeys">): Pages<Schemas["Key"]> {
    return this.call.pages("GET", "/v1/keys", {}, options);
  }

  /** Revoke an API key. */
  revoke(key: string, options?: Options<"revokeKey">): Promise<void> {
    return this.call.send("DELETE", "/v1/keys/{key}", { key }, options);
  }
}

export class Pipeline {
  constructor(private readonly call: Call) {}

  /** List the changes outside of the tenants. */
  changes(options?: Options<"listChanges">): Pages<Schemas["Audit"]> {
    return this.call.pages("GET", "/v1/audit", {}, options);
  }

  /** Read the health of the pipeline. */
  health(options?: Options<"getHealth">): Promise<Schemas["Health"]> {
    return this.call.send("GET", "/v1/health", {}, options);
  }

  /** Find a record of any tenant by an id, or tenants by a prefix. */
  search(options: Options<"search">): Promise<Schemas["FoundList"]> {
    return this.call.send("GET", "/v1/search", {}, options);
  }

  /** Read the statistics of all tenants. */
  stats(options?: Options<"getPipelineStats">): Promise<Schemas["PipelineStats"]> {
    return this.call.send("GET", "/v1/stats", {}, options);
  }
}

export class PortalLinks {
  constructor(private readonly call: Call) {}

  /** Create a link to the portal of a tenant. */
  create(tenant: string, body?: Schemas["PortalLinkRequest"], options?: Options<"createPortalLink">): Promise<Schemas["PortalLink"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/portal-links", { tenant }, options, body);
  }

  /** End a link to the portal of a tenant. */
  end(tenant: string, key: string, options?: Options<"endPortalLink">): Promise<void> {
    return this.call.send("DELETE", "/v1/tenants/{tenant}/portal-links/{key}", { tenant, key }, options);
  }
}

export class PortalSessions {
  constructor(private readonly call: Call) {}

  /** Sign out of the portal. */
  end(tenant: string, options?: Options<"endPortalSession">): Promise<void> {
    return this.call.send("DELETE", "/v1/tenants/{tenant}/portal-session", { tenant }, options);
  }

  /** Take the code of a portal link for its key. */
  open(tenant: string, body: Schemas["PortalCode"], options?: Options<"openPortalSession">): Promise<Schemas["PortalSession"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/portal-session", { tenant }, options, body);
  }
}

export class Rejects {
  constructor(private readonly call: Call) {}

  /** List wrong messages of the events queue. */
  list(options?: Options<"listRejects">): Promise<Schemas["RejectList"]> {
    return this.call.send("GET", "/v1/rejects", {}, options);
  }

  /** Send all rejects to the events queue again. */
  redrive(options?: Options<"redriveRejects">): Promise<Schemas["Redriven"]> {
    return this.call.send("POST", "/v1/rejects/redrive", {}, options);
  }
}

export class Replays {
  constructor(private readonly call: Call) {}

  /** Cancel a replay job. */
  cancel(tenant: string, replay: string, options?: Options<"cancelReplay">): Promise<Schemas["ReplayProgress"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/replays/{replay}/cancel", { tenant, replay }, options);
  }

  /** Replay the deliveries selected by a filter. */
  create(tenant: string, body: Omit<Schemas["ReplayStart"], "dry_run">, options?: Options<"startReplay">): Promise<Schemas["Replay"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/replays", { tenant }, options, { ...body, dry_run: false });
  }

  /** Read a replay job with the progress. */
  get(tenant: string, replay: string, options?: Options<"getReplay">): Promise<Schemas["ReplayProgress"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/replays/{replay}", { tenant, replay }, options);
  }

  /** List replay jobs. */
  list(tenant: string, options?: Options<"listReplays">): Pages<Schemas["Replay"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/replays", { tenant }, options);
  }

  /** Replay the deliveries selected by a filter, as a dry run. */
  preview(tenant: string, body: Omit<Schemas["ReplayStart"], "dry_run">, options?: Options<"startReplay">): Promise<Schemas["ReplayPreview"]> {
    return this.call.send("POST", "/v1/tenants/{tenant}/replays", { tenant }, options, { ...body, dry_run: true });
  }
}

export class Tenants {
  constructor(private readonly call: Call) {}

  /** List a tenant's endpoints that need attention. */
  attention(tenant: string, options?: Options<"listAttention">): Pages<Schemas["AttentionEndpoint"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/attention", { tenant }, options);
  }

  /** List the changes of a tenant. */
  changes(tenant: string, options?: Options<"listTenantChanges">): Pages<Schemas["Audit"]> {
    return this.call.pages("GET", "/v1/tenants/{tenant}/audit", { tenant }, options);
  }

  /** Remove all limits of a tenant. */
  deleteLimits(tenant: string, options?: Options<"deleteTenantLimits">): Promise<void> {
    return this.call.send("DELETE", "/v1/tenants/{tenant}/limits", { tenant }, options);
  }

  /** Read where requests can come from, and where deliveries can go. */
  egress(tenant: string, options?: Options<"getEgress">): Promise<Schemas["Egress"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/egress", { tenant }, options);
  }

  /** Erase a tenant. */
  erase(tenant: string, options?: Options<"eraseTenant">): Promise<Schemas["Erasure"]> {
    return this.call.send("DELETE", "/v1/tenants/{tenant}", { tenant }, options);
  }

  /** Read the erasure of a tenant. */
  erasure(tenant: string, erasure: string, options?: Options<"getErasure">): Promise<Schemas["Erasure"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/erasures/{erasure}", { tenant, erasure }, options);
  }

  /** Read the health of a tenant's endpoints. */
  health(tenant: string, options?: Options<"getTenantHealth">): Promise<Schemas["TenantHealth"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/health", { tenant }, options);
  }

  /** Read the limits of a tenant. */
  limits(tenant: string, options?: Options<"getTenantLimits">): Promise<Schemas["TenantLimits"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/limits", { tenant }, options);
  }

  /** List tenants. */
  list(options?: Options<"listTenants">): Pages<Schemas["Tenant"]> {
    return this.call.pages("GET", "/v1/tenants", {}, options);
  }

  /** Find a record of the tenant by an id or a name. */
  search(tenant: string, options: Options<"searchTenant">): Promise<Schemas["FoundList"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/search", { tenant }, options);
  }

  /** Replace the limits of a tenant. */
  setLimits(tenant: string, body: Schemas["TenantLimits"], options?: Options<"putTenantLimits">): Promise<Schemas["TenantLimits"]> {
    return this.call.send("PUT", "/v1/tenants/{tenant}/limits", { tenant }, options, body);
  }

  /** Read the statistics of a tenant. */
  stats(tenant: string, options?: Options<"getStats">): Promise<Schemas["Stats"]> {
    return this.call.send("GET", "/v1/tenants/{tenant}/stats", { tenant }, options);
  }
}

/** The operations of the API by what they act on. */
export class Resources {
  readonly deadLetters: DeadLetters;
  readonly deliveries: Deliveries;
  readonly endpoints: Endpoints;
  readonly eventTypes: EventTypes;
  readonly events: Events;
  readonly keys: Keys;
  readonly pipeline: Pipeline;
  readonly portalLinks: PortalLinks;
  readonly portalSessions: PortalSessions;
  readonly rejects: Rejects;
  readonly replays: Replays;
  readonly tenants: Tenants;

  constructor(call: Call) {
    this.deadLetters = new DeadLetters(call);
    this.deliveries = new Deliveries(call);
    this.endpoints = new Endpoints(call);
    this.eventTypes = new EventTypes(call);
    this.events = new Events(call);
    this.keys = new Keys(call);
    this.pipeline = new Pipeline(call);
    this.portalLinks = new PortalLinks(call);
    this.portalSessions = new PortalSessions(call);
    this.rejects = new Rejects(call);
    this.replays = new Replays(call);
    this.tenants = new Tenants(call);
  }
}
