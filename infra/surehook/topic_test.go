package surehook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTopic(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			tpl.get(t, "AWS::SNS::Topic", "Topic").check(t, "TopicName", "surehook-"+env.Name+"-alerts")
			if n := len(tpl.all("AWS::SNS::Subscription")); n != 0 {
				t.Errorf("%d subscriptions; want none without an address", n)
			}
			var got []string
			for _, s := range statements(tpl.get(t, "AWS::SNS::TopicPolicy", "TopicPolicy").Properties) {
				got = append(got, show(s["Effect"])+" "+show(s["Principal"])+" "+show(s["Action"])+" if "+show(s["Condition"]))
				if on := show(s["Resource"]); on != "${Topic}" {
					t.Errorf("a statement is about %s; want the topic", on)
				}
			}
			want := []string{
				`Deny * sns:Publish if {"Bool":{"aws:SecureTransport":"false"}}`,
				`Allow {"Service":"cloudwatch.amazonaws.com"} sns:Publish if ` +
					`{"ArnLike":{"aws:SourceArn":{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"},":cloudwatch:",{"Ref":"AWS::Region"},":",{"Ref":"AWS::AccountId"},":alarm:*"]]}},` +
					`"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}}`,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("policy of the topic (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTopic_email(t *testing.T) {
	t.Parallel()

	subscriptions := templateOf(t, "custom").all("AWS::SNS::Subscription")
	if len(subscriptions) != 1 {
		t.Errorf("%d subscriptions; want 1", len(subscriptions))
	}
	for _, s := range subscriptions {
		s.check(t, "Protocol", "email")
		s.check(t, "Endpoint", "oncall@example.com")
		if got := show(s.at("TopicArn")); got != "${Topic}" {
			t.Errorf("the address is subscribed to %s; want the topic", got)
		}
	}
}
