package client

import (
	"context"
	"iter"

	"surehook.example/surehook/client/openapi"
)

// The lists yield one item after the other, and read the next page only when its first item is
// asked for. A list ends after an error. Limit in the parameters is the size of a page.

// Events yields the events of the tenant.
func (c *Client) Events(ctx context.Context, tenant string, q openapi.ListEventsParams) iter.Seq2[openapi.EventSummary, error] {
	return pages(func(cursor *string) ([]openapi.EventSummary, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListEventsWithResponse(ctx, tenant, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// EventDeliveries yields the deliveries of an event.
func (c *Client) EventDeliveries(ctx context.Context, tenant, event string, q openapi.ListEventDeliveriesParams) iter.Seq2[openapi.Delivery, error] {
	return pages(func(cursor *string) ([]openapi.Delivery, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListEventDeliveriesWithResponse(ctx, tenant, event, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// EventAttempts yields the attempts of an event.
func (c *Client) EventAttempts(ctx context.Context, tenant, event string, q openapi.ListEventAttemptsParams) iter.Seq2[openapi.Attempt, error] {
	return pages(func(cursor *string) ([]openapi.Attempt, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListEventAttemptsWithResponse(ctx, tenant, event, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Deliveries yields the deliveries of the tenant.
func (c *Client) Deliveries(ctx context.Context, tenant string, q openapi.ListDeliveriesParams) iter.Seq2[openapi.Delivery, error] {
	return pages(func(cursor *string) ([]openapi.Delivery, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListDeliveriesWithResponse(ctx, tenant, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// DeadLetters yields the dead deliveries of the tenant.
func (c *Client) DeadLetters(ctx context.Context, tenant string, q openapi.ListDeadLettersParams) iter.Seq2[openapi.Delivery, error] {
	return pages(func(cursor *string) ([]openapi.Delivery, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListDeadLettersWithResponse(ctx, tenant, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Endpoints yields the endpoints of the tenant.
func (c *Client) Endpoints(ctx context.Context, tenant string, q openapi.ListEndpointsParams) iter.Seq2[openapi.Endpoint, error] {
	return pages(func(cursor *string) ([]openapi.Endpoint, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListEndpointsWithResponse(ctx, tenant, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Decisions yields the decisions about an endpoint.
func (c *Client) Decisions(ctx context.Context, tenant, endpoint string, q openapi.ListDecisionsParams) iter.Seq2[openapi.Decision, error] {
	return pages(func(cursor *string) ([]openapi.Decision, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListDecisionsWithResponse(ctx, tenant, endpoint, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Replays yields the replay jobs of the tenant.
func (c *Client) Replays(ctx context.Context, tenant string, q openapi.ListReplaysParams) iter.Seq2[openapi.Replay, error] {
	return pages(func(cursor *string) ([]openapi.Replay, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListReplaysWithResponse(ctx, tenant, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// TenantChanges yields the changes of the tenant.
func (c *Client) TenantChanges(ctx context.Context, tenant string, q openapi.ListTenantChangesParams) iter.Seq2[openapi.Audit, error] {
	return pages(func(cursor *string) ([]openapi.Audit, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListTenantChangesWithResponse(ctx, tenant, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Changes yields the changes outside of the tenants.
func (c *Client) Changes(ctx context.Context, q openapi.ListChangesParams) iter.Seq2[openapi.Audit, error] {
	return pages(func(cursor *string) ([]openapi.Audit, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListChangesWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Tenants yields the tenants.
func (c *Client) Tenants(ctx context.Context, q openapi.ListTenantsParams) iter.Seq2[openapi.Tenant, error] {
	return pages(func(cursor *string) ([]openapi.Tenant, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListTenantsWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// Keys yields the API keys.
func (c *Client) Keys(ctx context.Context, q openapi.ListKeysParams) iter.Seq2[openapi.Key, error] {
	return pages(func(cursor *string) ([]openapi.Key, *string, error) {
		if cursor != nil {
			q.Cursor = cursor
		}
		r, err := c.ListKeysWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return r.JSON200.Data, r.JSON200.NextCursor, nil
	})
}

// pages yields the items of all pages. read returns the page at the cursor, nil for the
// first page, and the cursor of the next page.
func pages[T any](read func(cursor *string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var cursor *string
		for {
			data, next, err := read(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range data {
				if !yield(item, nil) {
					return
				}
			}
			if cursor = next; cursor == nil {
				return
			}
		}
	}
}
