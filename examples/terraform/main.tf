# Surehook as one stack of CloudFormation, from its released template.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0, < 7.0"
    }
  }
}

resource "aws_cloudformation_stack" "surehook" {
  name              = var.name
  template_url      = var.template_url
  capabilities      = ["CAPABILITY_IAM"]
  iam_role_arn      = var.iam_role_arn
  notification_arns = var.notification_arns
  tags              = var.tags

  parameters = merge(var.parameters, {
    AssetsBucket        = var.assets_bucket
    AssetsPrefix        = var.assets_prefix
    AlarmEmail          = var.alarm_email
    SealingKey          = var.sealing_key
    PermissionsBoundary = var.permissions_boundary
    LogDays             = var.log_days == null ? "" : tostring(var.log_days)
  })

  timeouts {
    create = "45m"
    update = "45m"
    delete = "45m"
  }

  lifecycle {
    prevent_destroy = true # the table has the deliveries
  }
}
