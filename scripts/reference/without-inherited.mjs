// A plugin of TypeDoc: a class documents its own members; those that it inherits are with the class that they come from.

import { Converter, ReflectionKind } from "typedoc";

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(
    Converter.EVENT_RESOLVE_BEGIN,
    ({ project }) => {
      for (const member of project.getReflectionsByKind(ReflectionKind.ClassMember)) {
        if (member.inheritedFrom !== undefined) project.removeReflection(member);
      }
    },
    -10_000,
  );
}
