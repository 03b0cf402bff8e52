package dynamo

import "surehook.example/surehook/internal/hook"

// destinationItem is where the deliveries of an endpoint go.
type destinationItem struct {
	Type       string `dynamodbav:"type,omitempty"` // without: http
	RoleARN    string `dynamodbav:"role_arn,omitempty"`
	Source     string `dynamodbav:"source,omitempty"`
	ExternalID string `dynamodbav:"external_id"`
}

// toDestinationItem returns nil for an endpoint that never had a destination in AWS.
func toDestinationItem(d hook.Destination) *destinationItem {
	if d == (hook.Destination{}) {
		return nil
	}
	return &destinationItem{Type: word(d.Type), RoleARN: d.RoleARN, Source: d.Source, ExternalID: d.ExternalID}
}

func fromDestinationItem(it *destinationItem) (hook.Destination, error) {
	if it == nil {
		return hook.Destination{}, nil
	}
	t, err := parse[hook.DestinationType](it.Type)
	return hook.Destination{Type: t, RoleARN: it.RoleARN, Source: it.Source, ExternalID: it.ExternalID}, err
}
