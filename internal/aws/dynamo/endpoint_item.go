package dynamo

import "surehook.example/surehook/internal/hook"

type endpointItem struct {
	key
	hook.Endpoint
}

// toEndpointItem returns the next version of e.
func toEndpointItem(e hook.Endpoint) endpointItem {
	e.Version++
	return endpointItem{endpointKey(e.ID), e}
}
