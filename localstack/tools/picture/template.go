package picture

import (
	"encoding/json"
	"fmt"
	"strings"
)

// template is a synthesised CloudFormation template.
type template struct {
	Resources map[string]resource `json:"Resources"`
}

type resource struct {
	Type       string         `json:"Type"`
	Properties map[string]any `json:"Properties"`
}

// text resolves joins and the template's own resource names, as CloudFormation
// does. A value known only after a deployment stays as ${Id.Attribute}.
func (t template) text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if id, ok := v["Ref"].(string); ok {
			return "${" + id + "}"
		}
		if path, ok := v["Fn::GetAtt"].([]any); ok && len(path) == 2 {
			return t.attribute(fmt.Sprint(path[0]), fmt.Sprint(path[1]))
		}
		if join, ok := v["Fn::Join"].([]any); ok && len(join) == 2 {
			return t.join(join)
		}
	}
	return fmt.Sprint(v)
}

func (t template) join(join []any) string {
	parts, _ := join[1].([]any) // a join of other values is empty
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = t.text(part)
	}
	return strings.Join(all, fmt.Sprint(join[0]))
}

// attribute returns the property with the attribute's name, such as QueueName.
// For an alarm, the result is the alarm's name, the end of the alarm's ARN.
func (t template) attribute(id, name string) string {
	r := t.Resources[id]
	if r.Type == "AWS::CloudWatch::Alarm" {
		name = "AlarmName"
	}
	if v, ok := r.Properties[name].(string); ok {
		return v
	}
	return "${" + id + "." + name + "}"
}

// dashboard returns the body of the one dashboard.
func (t template) dashboard() ([]byte, error) {
	for _, r := range t.Resources {
		if r.Type == "AWS::CloudWatch::Dashboard" {
			return []byte(t.text(r.Properties["DashboardBody"])), nil
		}
	}
	return nil, fmt.Errorf("read the dashboard: none of %d resources is one", len(t.Resources))
}

func parseTemplate(raw []byte) (template, error) {
	var t template
	if err := json.Unmarshal(raw, &t); err != nil {
		return template{}, fmt.Errorf("read the template: %w", err)
	}
	return t, nil
}
