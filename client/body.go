package client

import "encoding/json"

// everyEventHasKey reports whether the event, or each event of a batch, has an
// idempotency key.
func everyEventHasKey(body []byte) bool {
	type event struct {
		Key string `json:"idempotency_key"`
	}
	var post struct {
		event

		Events []event `json:"events"`
	}
	if json.Unmarshal(body, &post) != nil {
		return false
	}
	for _, e := range post.Events {
		if e.Key == "" {
			return false
		}
	}
	return post.Key != "" || len(post.Events) > 0
}

// dryRun reports whether the replay only counts deliveries.
func dryRun(body []byte) bool {
	var start struct {
		DryRun bool `json:"dry_run"`
	}
	return json.Unmarshal(body, &start) == nil && start.DryRun
}
