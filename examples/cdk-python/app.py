"""The CDK app of a shop. Its stack has the resources of Surehook's released template, beside
a role for the shop's own backend.

The context says where the release is: `template` is the path of the template on this
machine, `bucket` and `prefix` are the place of the functions' archives in S3.
"""

from aws_cdk import App, CfnOutput, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.cloudformation_include import CfnInclude

app = App()


def context(name: str) -> str:
    value = app.node.try_get_context(name)
    if not value:
        raise SystemExit(f"say where the release is: -c {name}=...")
    return value


# The name of the stack is the prefix of Surehook's names.
stack = Stack(app, "Shop", stack_name="shop-webhooks", termination_protection=True)
surehook = CfnInclude(
    stack,
    "Surehook",
    template_file=context("template"),
    parameters={
        "AssetsBucket": context("bucket"),
        "AssetsPrefix": context("prefix"),
        "PortalName": "Shop webhooks",
    },
)

# The backend has a key of its own: put one with the scope events:write into the secret (surehook keys create).
# The output tells the backend the API's URL.
backend = iam.Role(stack, "Backend", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
secretsmanager.Secret(stack, "WebhooksKey").grant_read(backend)
CfnOutput(stack, "WebhooksUrl", value=Token.as_string(surehook.get_output("ApiUrl").value))

app.synth()
